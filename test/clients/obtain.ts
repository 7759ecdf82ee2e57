// Obtains clients for tests: installed on demand, cached outside of the repository. If that fails (no network, no permission), the
// reason is the skip message of the suite.

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'

/** `skip` goes into the options of a suite. */
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

const timeoutMs = 180_000

/** Resolves with the path, or with the error as skip reason. */
export async function obtain(name: string, find: () => Promise<string>): Promise<Obtained> {
  try {
    openCache()
    return { path: await find(), skip: false }
  } catch (error) {
    const reason = errorMessage(error)
    return { path: '', skip: `${name} could not be installed: ${reason}` }
  }
}

/** Creates the cache folder, which must belong to the current user, because its content is executed. */
function openCache(): void {
  mkdirSync(cacheFolder, { recursive: true, mode: 0o700 })
  if (statSync(cacheFolder).uid !== process.getuid?.()) throw new Error(`${cacheFolder} belongs to somebody else`)
}

const printProgress = (text: string): void => {
  process.stderr.write(`clients: ${text}\n`)
}

/** Adds NODE_EXTRA_CA_CERTS of the machine, which `scripts/test.mjs` removes for all other processes. */
export function withExtraCa(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const certificates = process.env['TEST_EXTRA_CA_CERTS']
  return certificates === undefined ? env : { ...env, NODE_EXTRA_CA_CERTS: certificates }
}

/** Runs a command under a lock, because package managers do not run concurrently. Throws on failure. */
export async function install(command: string, args: readonly string[], cwd = cacheFolder): Promise<string> {
  printProgress([command, ...args].join(' '))
  const { code, stdout, stderr } = await runToEnd('flock', ['--no-fork', join(cacheFolder, 'lock'), command, ...args], {
    cwd,
    env: { ...withExtraCa(process.env), DEBIAN_FRONTEND: 'noninteractive' },
  })
  if (code !== 0) throw new Error(`\`${[command, ...args].join(' ')}\` failed: ${errorLineOf(stderr)}`)
  return stdout
}

interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  readonly stdin?: string
  readonly timeoutMs?: number
}

/** Runs a command with a time limit, and resolves with any exit code. */
export function runToEnd(command: string, args: readonly string[], options: RunOptions = {}): Promise<Output> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: options.cwd, env: options.env })
    // Not the timeout of `spawn`, which keeps running if the command does not exist.
    const timer = setTimeout(() => child.kill(), options.timeoutMs ?? timeoutMs)
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const end = (output: Output): void => {
      clearTimeout(timer)
      resolve(output)
    }
    child.on('error', (error) => end({ code: null, stdout, stderr: `${stderr}${error.message}` }))
    child.on('close', (code, signal) => end({ code, stdout, stderr: signal === null ? stderr : `${stderr}ended by ${signal}` }))
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.stdin ?? '')
  })
}

/** The line with the error, without hints. */
function errorLineOf(text: string): string {
  const lines = text.trim().split('\n')
  return lines.find((line) => /^(?:E:|npm (?:error|ERR!))/.test(line)) ?? lines.at(-1) ?? ''
}

/** A command of a Debian package, unpacked into the cache folder without root. */
export async function unpackCommand(packageName: string, name: string): Promise<string> {
  const folder = join(cacheFolder, packageName)
  const command = join(folder, 'usr', 'bin', name)
  if (existsSync(command)) return command
  const workspace = mkdtempSync(join(cacheFolder, 'unpack-'))
  try {
    await download(packageName, workspace)
    const archive = readdirSync(workspace).find((found) => found.endsWith('.deb'))
    if (archive === undefined) throw new Error(`no package ${packageName} in this release`)
    const unpacked = join(workspace, 'unpacked')
    mkdirSync(unpacked)
    await install('dpkg-deb', ['--extract', join(workspace, archive), unpacked])
    if (!existsSync(command)) renameSync(unpacked, folder)
    return command
  } finally {
    rmSync(workspace, { recursive: true, force: true })
  }
}

/** Package lists may be missing or outdated. */
async function download(packageName: string, folder: string): Promise<void> {
  const args = ['download', '--quiet', packageName]
  try {
    await install('apt-get', args, folder)
  } catch {
    await install('apt-get', ['update', '--quiet'])
    await install('apt-get', args, folder)
  }
}
