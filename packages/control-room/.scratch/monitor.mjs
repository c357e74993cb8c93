import { monitorEventLoopDelay } from "node:perf_hooks"
import { isMainThread } from "node:worker_threads"
if (isMainThread && process.send) {
  const delay = monitorEventLoopDelay({ resolution: 1 }); delay.enable()
  const th = () => { const c = process.threadCpuUsage(); return (c.user + c.system) / 1000 }
  let tl = th(), tg = 0, last = performance.now(), gap = 0, cpu = process.cpuUsage(), rss = 0
  setInterval(() => { const n = performance.now(); gap = Math.max(gap, n - last); last = n; const t2 = th(); tg = Math.max(tg, t2 - tl); tl = t2; rss = Math.max(rss, process.memoryUsage.rss()) }, 1).unref()
  process.on("message", (m) => {
    if (m === "reset") { delay.reset(); gap = 0; tg = 0; tl = th(); last = performance.now(); cpu = process.cpuUsage(); rss = 0; process.send("ok") }
    else { const c = process.cpuUsage(cpu); process.send({ loop: +(delay.max / 1e6).toFixed(1), gap: +gap.toFixed(1), held: +tg.toFixed(1), cpu: Math.round((c.user + c.system) / 1000), rss: Math.round(rss/1e6) }) }
  })
  process.channel.unref()
}
