"""As much of pip as the tests of the worker need, without its second of start: it installs wheels from a folder or from a simple
index, with what they require, and minds hashes. What pip itself does is in the tests of environments by venv."""
import hashlib, io, os, re, sys, zipfile


def files(name, env):
    """The wheels of a project: a name and how to read each."""
    if env.get("PIP_NO_INDEX"):
        folder = env["PIP_FIND_LINKS"]
        return [(file, lambda path=os.path.join(folder, file): open(path, "rb").read()) for file in os.listdir(folder)]
    import base64, urllib.error, urllib.parse, urllib.request
    parts = urllib.parse.urlsplit(env["PIP_INDEX_URL"])
    user, password = urllib.parse.unquote(parts.username or ""), urllib.parse.unquote(parts.password or "")
    headers = {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()} if user else {}
    index = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def read(url):
        return urllib.request.urlopen(urllib.request.Request(url, headers=headers)).read()

    page = f"{index}/{name}/"
    try:
        links = re.findall(r'href="([^"]+)"', read(page).decode())
    except urllib.error.HTTPError as error:
        print(f"WARNING: {error} for {page}")
        return []
    return [(link.rpartition("/")[2], lambda url=urllib.parse.urljoin(page, link): read(url)) for link in links]


def versions(name, env):
    wheels = [(re.match(r"(.+?)-([^-]+)-.*\.whl$", file), read) for file, read in files(name, env)]
    found = [(match[2], read) for match, read in wheels if match and match[1].lower() == name.lower()]
    return sorted(found, key=lambda wheel: [int(part) for part in wheel[0].split(".")], reverse=True)


def install(prefix, requirements, env):
    """Installs what a file lists into the environment at `prefix`."""
    into = os.path.join(prefix, "lib", "python%d.%d" % sys.version_info[:2], "site-packages")
    with open(requirements) as file:
        wanted = [line.strip() for line in file if line.strip()]
    installed = {}
    while wanted:
        line = wanted.pop(0)
        print("Collecting " + line)
        requirement, *options = line.split()
        name, _, version = requirement.partition("==")
        if name in installed:
            continue
        fitting = [wheel for wheel in versions(name, env) if version in ("", wheel[0])]
        if not fitting:
            sys.exit(f"ERROR: No matching distribution found for {requirement}")
        version, read = fitting[0]
        content = read()
        got = hashlib.sha256(content).hexdigest()
        hashes = [option.rpartition(":")[2] for option in options if option.startswith("--hash=sha256:")]
        if hashes and got not in hashes:
            sys.exit("ERROR: hashes differ:\n" + "".join(f"    Expected sha256 {it}\n" for it in hashes) + f"    Got {got}")
        with zipfile.ZipFile(io.BytesIO(content)) as wheel:
            metadata = wheel.read(f"{name}-{version}.dist-info/METADATA").decode()
            wheel.extractall(into)
        installed[name] = version
        wanted += re.findall(r"^Requires-Dist: (.+)$", metadata, re.MULTILINE)
    print("Successfully installed " + " ".join(f"{name}-{version}" for name, version in installed.items()))


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print("pip 24.2 (of the tests)")
    else:
        flag, python, command, option, path = sys.argv[1:]
        assert (flag, command, option) == ("--python", "install", "--requirement"), sys.argv
        install(os.path.dirname(os.path.dirname(python)), path, os.environ)
