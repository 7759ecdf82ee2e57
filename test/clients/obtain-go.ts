// Go and client-go from Debian's packages, in a folder of their own. A release without a package of client-go has it in the source of its `kubernetes`.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, install, type Obtained, obtain, runToEnd } from './obtaining.js'

/** What `go` is run with. Packages that are tested lie in `workplace`, from where client-go is found. */
export interface GoTools {
  readonly command: string
  readonly environment: Readonly<Record<string, string>>
  readonly workplace: string
}

const folder = join(cacheFolder, 'go')
const sources = 'src/k8s.io/kubernetes'

export const goTools = (path: string): GoTools => ({
  command: join(path, 'root', 'bin', 'go'),
  environment: { GOROOT: join(path, 'root'), GOPATH: path, GOCACHE: join(path, 'cache'), GO111MODULE: 'off', CGO_ENABLED: '0' },
  workplace: join(path, sources),
})

/** A compiler and its libraries are hundreds of megabytes, and take minutes to compile: only for who wants that. */
export const obtainGo = (isWanted: boolean): Promise<Obtained> =>
  obtain('Go and client-go', async () => {
    if (existsSync(folder)) return folder
    if (!isWanted) throw new Error('EXAMPLES=all installs it')
    const made = mkdtempSync(join(cacheFolder, 'unpack-'))
    try {
      await fillFolder(made)
      if (!existsSync(folder)) renameSync(made, folder)
      return folder
    } finally {
      rmSync(made, { recursive: true, force: true })
    }
  })

async function fillFolder(made: string): Promise<void> {
  const apt = await listSources(made)
  const version = /\bgolang-(\d[\d.]*)-go\b/.exec((await runToEnd('apt-cache', [...apt, 'depends', 'golang-go'])).stdout)?.[1]
  if (version === undefined) throw new Error('no package golang-go in this release')
  const downloads = join(made, 'downloads')
  mkdirSync(downloads)
  await install('apt-get', [...apt, '--quiet', 'download', `golang-${version}-go`, `golang-${version}-src`], downloads)
  await install('apt-get', [...apt, '--quiet', '--download-only', 'source', 'kubernetes'], downloads)
  const unpacked = join(made, 'unpacked')
  mkdirSync(unpacked)
  const found = readdirSync(downloads)
  for (const name of found.filter((one) => one.endsWith('.deb'))) await install('dpkg-deb', ['--extract', join(downloads, name), unpacked])
  // What it links to lies beside it.
  await install('cp', ['--recursive', '--dereference', join(unpacked, 'usr', 'lib', `go-${version}`), join(made, 'root')])
  const archive = found.find((one) => /^kubernetes_.*\.orig\.tar\.\w+$/.test(one))
  if (archive === undefined) throw new Error('no source of kubernetes in this release')
  mkdirSync(join(made, sources), { recursive: true })
  await install('tar', ['--extract', '--strip-components=1', '--file', join(downloads, archive)], join(made, sources))
  for (const name of ['downloads', 'unpacked', 'lists', 'packages']) rmSync(join(made, name), { recursive: true, force: true })
}

/** Flags for apt with lists of its own, because those of the machine usually leave out sources. */
async function listSources(made: string): Promise<readonly string[]> {
  const format = 'deb-src $(REPO_URI) $(CODENAME) $(COMPONENT)'
  const { stdout } = await runToEnd('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'])
  const lines = [...new Set(stdout.trim().split('\n'))]
  const list = join(made, 'sources.list')
  writeFileSync(list, lines.flatMap((line) => [line, line.replace('deb-src', 'deb')]).join('\n'))
  mkdirSync(join(made, 'lists', 'partial'), { recursive: true })
  mkdirSync(join(made, 'packages', 'archives', 'partial'), { recursive: true })
  const flags = [
    ['Dir::Etc::sourcelist', list],
    ['Dir::Etc::sourceparts', '-'],
    ['Dir::State::lists', join(made, 'lists')],
    ['Dir::Cache', join(made, 'packages')],
    // It works as root in folders of ours.
    ['APT::Sandbox::User', 'root'],
  ].flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await install('apt-get', [...flags, 'update', '--quiet'])
  return flags
}
