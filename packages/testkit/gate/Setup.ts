export default () => Promise.reject(new Error("this setup fails"))
