// Obtains Go from Debian packages, and client-go from the source of the Debian package `kubernetes`.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, install, type Obtained, obtain, runToEnd } from './obtain.js'

/** Command and environment of `go`. Tested packages must be in `workspace`, where Go finds client-go. */
interface GoTools {
  readonly command: string
  readonly environment: Readonly<Record<string, string>>
  readonly workspace: string
}

const folder = join(cacheFolder, 'go')
const sources = 'src/k8s.io/kubernetes'

export const goTools = (path: string): GoTools => ({
  command: join(path, 'root', 'bin', 'go'),
  environment: { GOROOT: join(path, 'root'), GOPATH: path, GOCACHE: join(path, 'cache'), GO111MODULE: 'off', CGO_ENABLED: '0' },
  workspace: join(path, sources),
})

/** Only on request: hundreds of megabytes, and minutes to compile. */
export const obtainGo = (isRequested: boolean): Promise<Obtained> =>
  obtain('Go and client-go', async () => {
    if (existsSync(folder)) return folder
    if (!isRequested) throw new Error('EXAMPLES=all installs it')
    const draft = mkdtempSync(join(cacheFolder, 'unpack-'))
    try {
      await fillFolder(draft)
      if (!existsSync(folder)) renameSync(draft, folder)
      return folder
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  })

async function fillFolder(draft: string): Promise<void> {
  const apt = await listSources(draft)
  const version = /\bgolang-(\d[\d.]*)-go\b/.exec((await runToEnd('apt-cache', [...apt, 'depends', 'golang-go'])).stdout)?.[1]
  if (version === undefined) throw new Error('no package golang-go in this release')
  const downloads = join(draft, 'downloads')
  mkdirSync(downloads)
  await install('apt-get', [...apt, '--quiet', 'download', `golang-${version}-go`, `golang-${version}-src`], downloads)
  await install('apt-get', [...apt, '--quiet', '--download-only', 'source', 'kubernetes'], downloads)
  const unpacked = join(draft, 'unpacked')
  mkdirSync(unpacked)
  const found = readdirSync(downloads)
  for (const name of found.filter((one) => one.endsWith('.deb'))) await install('dpkg-deb', ['--extract', join(downloads, name), unpacked])
  // Follows symbolic links: the Go folder links to files of the package golang-VERSION-src.
  await install('cp', ['--recursive', '--dereference', join(unpacked, 'usr', 'lib', `go-${version}`), join(draft, 'root')])
  const archive = found.find((one) => /^kubernetes_.*\.orig\.tar\.\w+$/.test(one))
  if (archive === undefined) throw new Error('no source of kubernetes in this release')
  mkdirSync(join(draft, sources), { recursive: true })
  await install('tar', ['--extract', '--strip-components=1', '--file', join(downloads, archive)], join(draft, sources))
  for (const name of ['downloads', 'unpacked', 'lists', 'packages']) rmSync(join(draft, name), { recursive: true, force: true })
}

/** apt flags for package lists in `draft`, because the system's package lists often lack source packages. */
async function listSources(draft: string): Promise<readonly string[]> {
  const format = 'deb-src $(REPO_URI) $(CODENAME) $(COMPONENT)'
  const { stdout } = await runToEnd('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'])
  const lines = [...new Set(stdout.trim().split('\n'))]
  const list = join(draft, 'sources.list')
  writeFileSync(list, lines.flatMap((line) => [line, line.replace('deb-src', 'deb')]).join('\n'))
  mkdirSync(join(draft, 'lists', 'partial'), { recursive: true })
  mkdirSync(join(draft, 'packages', 'archives', 'partial'), { recursive: true })
  const flags = [
    ['Dir::Etc::sourcelist', list],
    ['Dir::Etc::sourceparts', '-'],
    ['Dir::State::lists', join(draft, 'lists')],
    ['Dir::Cache', join(draft, 'packages')],
    // As root, apt downloads as another user by default, and that user cannot write to these folders.
    ['APT::Sandbox::User', 'root'],
  ].flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await install('apt-get', [...flags, 'update', '--quiet'])
  return flags
}
