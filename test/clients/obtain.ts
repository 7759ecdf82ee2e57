// How the tests of this folder come by the clients of others: installed on demand, kept outside of the repository, and when that cannot
// be (no network, no rights) the reason why, which the runner shows beside the skipped suite.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** `skip` is made for the options of a suite: a suite without its client is skipped, and says why. */
export interface Obtained {
  readonly path: string
  readonly skip: string | false
}

export interface Output {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export const cacheFolder = join(tmpdir(), 'cluster-apiserver-clients')

const patienceMs = 180_000

/** The path that `find` comes up with, or its failure as the reason to skip. */
export async function obtain(name: string, find: () => Promise<string>): Promise<Obtained> {
  try {
    openCache()
    return { path: await find(), skip: false }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { path: '', skip: `${name} could not be installed: ${reason}` }
  }
}

/** What is in there is run, so nobody else may have put it there. */
function openCache(): void {
  mkdirSync(cacheFolder, { recursive: true, mode: 0o700 })
  if (statSync(cacheFolder).uid !== process.getuid?.()) throw new Error(`${cacheFolder} belongs to somebody else`)
}

/** One line for a person who wonders what takes so long. */
export const report = (text: string): void => {
  process.stderr.write(`clients: ${text}\n`)
}

/** The certificates that the machine gives to every program of Node, which `scripts/test.mjs` keeps from all that fetch nothing. */
export function fetching(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const certificates = process.env['TEST_EXTRA_CA_CERTS']
  return certificates === undefined ? env : { ...env, NODE_EXTRA_CA_CERTS: certificates }
}

/** Runs a command, one process of these tests at a time, because package managers do not wait for one another. Throws when it fails. */
export async function install(command: string, args: readonly string[], cwd = cacheFolder): Promise<string> {
  report([command, ...args].join(' '))
  const { code, stdout, stderr } = await runToEnd('flock', ['--no-fork', join(cacheFolder, 'lock'), command, ...args], {
    cwd,
    env: { ...fetching(process.env), DEBIAN_FRONTEND: 'noninteractive' },
  })
  if (code !== 0) throw new Error(`\`${[command, ...args].join(' ')}\` said: ${complaintIn(stderr)}`)
  return stdout
}

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly stdin?: string
  readonly patienceMs?: number
}

/** Runs a command to its end, however that is; one that takes too long is ended. */
export function runToEnd(command: string, args: readonly string[], options: RunOptions = {}): Promise<Output> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: options.cwd, env: options.env })
    // Not the time limit of `spawn`, which is not given up for a command that is not there.
    const late = setTimeout(() => child.kill(), options.patienceMs ?? patienceMs)
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const end = (output: Output): void => {
      clearTimeout(late)
      resolve(output)
    }
    child.on('error', (error) => end({ code: null, stdout, stderr: `${stderr}${error.message}` }))
    child.on('close', (code, signal) => end({ code, stdout, stderr: signal === null ? stderr : `${stderr}ended by ${signal}` }))
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.stdin ?? '')
  })
}

/** The line that says what is wrong, among those that say where to read more. */
function complaintIn(text: string): string {
  const lines = text.trim().split('\n')
  return lines.find((line) => /^(?:E:|npm (?:error|ERR!))/.test(line)) ?? lines.at(-1) ?? ''
}

/** A command of a Debian package, unpacked into the folder of what was obtained before, and not installed: that needs no rights. */
export async function unpackCommand(packageName: string, name: string): Promise<string> {
  const folder = join(cacheFolder, packageName)
  const command = join(folder, 'usr', 'bin', name)
  if (existsSync(command)) return command
  const workplace = mkdtempSync(join(cacheFolder, 'unpack-'))
  try {
    await download(packageName, workplace)
    const archive = readdirSync(workplace).find((found) => found.endsWith('.deb'))
    if (archive === undefined) throw new Error(`no package ${packageName} in this release`)
    const unpacked = join(workplace, 'unpacked')
    mkdirSync(unpacked)
    await install('dpkg-deb', ['--extract', join(workplace, archive), unpacked])
    if (!existsSync(command)) renameSync(unpacked, folder)
    return command
  } finally {
    rmSync(workplace, { recursive: true, force: true })
  }
}

/** The lists of packages are missing on a fresh machine, and outdated on an old one. */
async function download(packageName: string, folder: string): Promise<void> {
  const args = ['download', '--quiet', packageName]
  try {
    await install('apt-get', args, folder)
  } catch {
    await install('apt-get', ['update', '--quiet'])
    await install('apt-get', args, folder)
  }
}
