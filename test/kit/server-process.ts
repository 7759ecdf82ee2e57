// Runs the server command as a process, by default with a temporary data folder that is removed afterwards.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Access, ApiClient } from './api-client.js'
import { until } from './fixtures.js'
import { commandPath } from './paths.js'

interface ProcessOptions {
  /** Path of the command; default: of this repository. */
  readonly command?: string
  /** Default: a new folder, which is removed when the server stops. */
  readonly dataDir?: string
  readonly flags?: readonly string[]
  /** Flags of Node.js, such as a heap limit. */
  readonly nodeFlags?: readonly string[]
  readonly timeoutMs?: number
  /** Added to the environment of this process. */
  readonly environment?: Readonly<Record<string, string>>
  /** CPU to which all threads of the process are pinned. */
  readonly processor?: number | undefined
}

/** Process ids of the children of a process; none if it has ended. */
function childrenOf(pid: number): readonly number[] {
  return unlessEnded([], () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number))
}

/** A number of /proc/pid/status: kB for sizes. */
export const statusOf = (pid: number, name: string): number =>
  unlessEnded(0, () => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0))

const sumOf = (pids: readonly number[], read: (pid: number) => number): number =>
  pids.reduce((sum, pid) => sum + unlessEnded(0, () => read(pid)), 0)

function unlessEnded<T>(otherwise: T, read: () => T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const runningProcesses = new Set<ChildProcess>()

// Kills servers that a failed test left running, which would keep the test process alive.
// Outside of the test runner (the benchmark) there is no `after` hook.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const { after } = await import('node:test')
  const killAll = (): void => {
    for (const child of runningProcesses) child.kill('SIGKILL')
  }
  after(killAll)
  process.on('exit', killAll)
  // The test runner sends SIGTERM on timeout.
  process.on('SIGTERM', () => process.exit(143))
}

/** `TEST_ENGINES=workers`: every server that can have worker processes has two. */
export const isWorkersRun = (): boolean => process.env['TEST_ENGINES'] === 'workers'

/** `skip` of a test of a behaviour that is documented to differ with worker processes. */
export const skipWithWorkers = (difference: string): string | false => (isWorkersRun() ? `with workers: ${difference}` : false)

/** Polls on new connections until `isGood` holds on every worker process: consecutive connections go to different ones. */
export async function untilOnWorkers<T>(poll: () => Promise<T>, isGood: (value: T) => boolean): Promise<void> {
  let inRow = 0
  const pollInRow = async (): Promise<T> => {
    const value = await poll()
    inRow = isGood(value) ? inRow + 1 : 0
    return value
  }
  await until(pollInRow, () => inRow >= (isWorkersRun() ? 2 : 1))
}

const excludesWorkers = /^--(?:workers|etcd-servers|storage-backend|testkit|permit-port-sharing)\b/

const workersFlag = (flags: readonly string[]): readonly string[] =>
  isWorkersRun() && !flags.some((flag) => excludesWorkers.test(flag)) ? ['--workers=2'] : []

export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'apiserver-test-'))

export class ServerProcess {
  readonly url: string
  readonly port: number
  readonly pid: number
  readonly dataDir: string
  readonly exited: Promise<Exit>
  readonly client: ApiClient
  private readonly child: ChildProcess
  private readonly ownsFolder: boolean
  private readonly output: Output

  private constructor(parts: { child: ChildProcess; output: Output; url: string; dataDir: string; ownsFolder: boolean }) {
    this.child = parts.child
    this.output = parts.output
    this.url = parts.url
    this.dataDir = parts.dataDir
    this.ownsFolder = parts.ownsFolder
    this.port = Number(new URL(parts.url).port)
    this.pid = parts.child.pid ?? 0
    this.exited = exitOf(parts.child)
    // Consecutive requests on connections of their own are served by different workers.
    this.client = new ApiClient(this.access, { keepAlive: !isWorkersRun() })
  }

  /** Resolves when the server prints that it is ready. */
  static async start({
    dataDir,
    flags = [],
    nodeFlags = [],
    timeoutMs = 60_000,
    environment,
    processor,
    command,
  }: ProcessOptions = {}): Promise<ServerProcess> {
    const folder = dataDir ?? newFolder()
    const { child, output } = launch(['--secure-port=0', `--data-dir=${folder}`, ...workersFlag(flags), ...flags], {
      nodeFlags,
      environment,
      processor,
      command,
    })
    try {
      const url = await output.find(/listens on (https:\S+)[\s\S]*ready after/, timeoutMs)
      return new ServerProcess({ child, output, url, dataDir: folder, ownsFolder: dataDir === undefined })
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }

  get access(): Access {
    const clientConfiguration = readFileSync(join(this.dataDir, 'admin.conf'), 'utf8')
    const [, ca = ''] = /certificate-authority-data: (\S+)/.exec(clientConfiguration) ?? []
    return {
      url: this.url,
      ca: Buffer.from(ca, 'base64').toString(),
      token: readFileSync(join(this.dataDir, 'pki', 'admin.token'), 'utf8').trim(),
    }
  }

  get stderr(): string {
    return this.output.stderr
  }

  get stdout(): string {
    return this.output.stdout
  }

  /** Processes of --workers. */
  get workers(): readonly number[] {
    return childrenOf(this.pid)
  }

  /** Of the server and its workers, as the next numbers are. */
  get openDescriptors(): number {
    return sumOf([this.pid, ...this.workers], (pid) => readdirSync(`/proc/${pid}/fd`).length)
  }

  get threads(): number {
    return this.status('Threads')
  }

  get residentBytes(): number {
    return this.status('VmRSS') * 1024
  }

  /** Without pages of the data file, which the kernel can reclaim. */
  get ownBytes(): number {
    return this.status('RssAnon') * 1024
  }

  /** `ownBytes` of the server, then of each worker. */
  get ownBytesOfEach(): readonly number[] {
    return [this.pid, ...this.workers].map((pid) => statusOf(pid, 'RssAnon') * 1024)
  }

  get mappedFileBytes(): number {
    return this.status('RssFile') * 1024
  }

  private status(name: string): number {
    return sumOf([this.pid, ...this.workers], (pid) => statusOf(pid, name))
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name)
  }

  /** For handlers that `nodeFlags` load into the server and its workers. */
  signalAll(name: NodeJS.Signals): void {
    for (const pid of [this.pid, ...this.workers]) process.kill(pid, name)
  }

  /** Kills the process with SIGKILL. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.exited
    this.client.close()
  }

  /** Stops the server gracefully and removes its temporary folder. */
  async stop(): Promise<Exit> {
    this.client.close()
    this.signal('SIGTERM')
    const timer = setTimeout(() => this.signal('SIGKILL'), 60_000)
    const exit = await this.exited
    clearTimeout(timer)
    if (this.ownsFolder) rmSync(this.dataDir, { recursive: true, force: true })
    return exit
  }
}

/** Output of a process. */
interface Output {
  readonly stdout: string
  readonly stderr: string
  /** Waits for a pattern on stdout; resolves with its first group. */
  find(pattern: RegExp, timeoutMs: number): Promise<string>
}

interface Launched {
  readonly child: ChildProcess
  readonly output: Output
}

function launch(
  argv: readonly string[],
  {
    nodeFlags = [],
    environment,
    processor,
    command = commandPath,
  }: {
    readonly nodeFlags?: readonly string[]
    readonly environment?: ProcessOptions['environment'] | undefined
    readonly processor?: ProcessOptions['processor']
    readonly command?: string | undefined
  } = {},
): Launched {
  // taskset replaces itself with the command, so that the process id is the server's.
  const [file, ...args] = [...(processor === undefined ? [] : ['taskset', '-c', String(processor)]), process.execPath]
  const child = spawn(file as string, [...args, ...nodeFlags, command, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  runningProcesses.add(child)
  child.once('close', () => runningProcesses.delete(child))
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const find = (pattern: RegExp, timeoutMs: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const fail = (reason: string) => () => {
        clearTimeout(timer)
        reject(new Error(`${reason}\n${stdout}${stderr}`))
      }
      const timer = setTimeout(fail('the server did not become ready'), timeoutMs)
      const search = (): void => {
        const found = pattern.exec(stdout)?.[1]
        if (found === undefined) return
        clearTimeout(timer)
        child.stdout?.off('data', search)
        resolve(found)
      }
      child.stdout?.on('data', search)
      child.once('close', fail('the server ended before it was ready'))
    })
  const output: Output = {
    get stdout() {
      return stdout
    },
    get stderr() {
      return stderr
    },
    find,
  }
  return { child, output }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))
}

/** Starts a server and kills it after a delay, ready or not. */
export async function startAndKill({ dataDir, flags = [] }: ProcessOptions & { readonly dataDir: string }, afterMs: number): Promise<void> {
  const { child } = launch(['--secure-port=0', `--data-dir=${dataDir}`, ...flags])
  const exited = exitOf(child)
  setTimeout(() => child.kill('SIGKILL'), afterMs)
  await exited
}

export interface Finished extends Exit {
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command; kills it after a timeout, which shows as a signal. */
export async function runCommand(argv: readonly string[], timeoutMs = 60_000): Promise<Finished> {
  const { child, output } = launch(argv)
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const exit = await exitOf(child)
  clearTimeout(timer)
  return { ...exit, stdout: output.stdout, stderr: output.stderr }
}
