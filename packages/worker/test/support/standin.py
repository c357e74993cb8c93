"""uv and micromamba as far as the worker calls them: they record what they were called with, and do the work by venv and wheelpip."""
import json, os, sys

log, name, args = sys.argv[2], sys.argv[3], sys.argv[4:]
with open(log, "a") as file:
    file.write(json.dumps({"argv": [name] + args, "env": dict(os.environ)}) + "\n")


def install(prefix, requirements, env):
    sys.path.append(sys.argv[1])
    import wheelpip

    wheelpip.install(prefix, requirements, env)


def option(flag):
    return args[args.index(flag) + 1] if flag in args else None


def create(prefix):
    import venv

    venv.create(prefix, symlinks=True)


if name == "uv":
    if args == ["--version"]:
        print("uv 0.9.9 (stand-in)")
    elif args[:2] == ["python", "find"]:
        print(sys.executable)
    elif args[0] == "venv":
        create(args[-1])
    elif args[:2] == ["pip", "install"]:
        env = {}
        if "UV_DEFAULT_INDEX" in os.environ:
            env["PIP_INDEX_URL"] = os.environ["UV_DEFAULT_INDEX"]
        if "--no-index" in args:
            env.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=option("--find-links"))
        install(os.path.dirname(os.path.dirname(option("--python"))), option("--requirement"), env)
    elif args[0] == "sync":
        create(os.environ["UV_PROJECT_ENVIRONMENT"])
    else:
        sys.exit("uv: what is " + " ".join(args))
elif args == ["--version"]:
    print("2.3.3")
else:
    with open(option("--file")) as file:
        conda = json.load(file)
    prefix = option("--prefix")
    print("channels:", *conda["channels"], flush=True)
    create(prefix)
    os.mkdir(os.path.join(prefix, "conda-meta"))
    for package in conda["dependencies"]:
        if isinstance(package, str):
            with open(os.path.join(prefix, "conda-meta", package.replace("=", "-") + "-h0.json"), "w") as file:
                file.write("{}")
        else:
            install(prefix, package["pip"][0].split(" ", 1)[1], os.environ)
