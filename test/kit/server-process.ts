// The server as its users start it: the command in a process of its own, with a data folder that is removed afterwards.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Access, ApiClient } from './api-client.js'
import { commandPath } from './paths.js'

export interface ProcessOptions {
  /** Left out: a new folder, which is removed when the server is stopped. */
  readonly dataDir?: string
  readonly flags?: readonly string[]
  /** For Node itself, such as a bound on its heap. */
  readonly nodeFlags?: readonly string[]
  readonly patienceMs?: number
  /** Beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>
  /** CPU to which all threads of the process are pinned. */
  readonly processor?: number | undefined
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

const living = new Set<ChildProcess>()

// A test that failed halfway leaves its server running, which would keep the test's own process from ending. Outside of the test runner
// (the benchmark uses this file, too) there is no such hook to be had.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  const { after } = await import('node:test')
  const endAll = (): void => {
    for (const child of living) child.kill('SIGKILL')
  }
  after(endAll)
  process.on('exit', endAll)
  // The runner ends a file that takes too long in this way.
  process.on('SIGTERM', () => process.exit(143))
}

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
    this.client = new ApiClient(this.access)
  }

  /** Resolves when the server says that it is ready. */
  static async start({
    dataDir,
    flags = [],
    nodeFlags = [],
    patienceMs = 60_000,
    environment,
    processor,
  }: ProcessOptions = {}): Promise<ServerProcess> {
    const folder = dataDir ?? newFolder()
    const { child, output } = launch(['--secure-port=0', `--data-dir=${folder}`, ...flags], { nodeFlags, environment, processor })
    try {
      const url = await output.find(/listens on (https:\S+)[\s\S]*ready after/, patienceMs)
      return new ServerProcess({ child, output, url, dataDir: folder, ownsFolder: dataDir === undefined })
    } catch (error) {
      child.kill('SIGKILL')
      throw error
    }
  }

  get access(): Access {
    return {
      url: this.url,
      ca: readFileSync(join(this.dataDir, 'pki', 'ca.crt'), 'utf8'),
      token: readFileSync(join(this.dataDir, 'pki', 'admin.token'), 'utf8').trim(),
    }
  }

  get stderr(): string {
    return this.output.stderr
  }

  get stdout(): string {
    return this.output.stdout
  }

  get openDescriptors(): number {
    return readdirSync(`/proc/${this.pid}/fd`).length
  }

  get residentBytes(): number {
    return this.memory('VmRSS')
  }

  /** Without the pages of the data file, which the system takes back when it likes. */
  get ownBytes(): number {
    return this.memory('RssAnon')
  }

  private memory(name: string): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name)
  }

  /** Ends it without a chance to tidy up. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.exited
    this.client.close()
  }

  /** Ends it in good order and removes the folder that was made for it. */
  async stop(): Promise<Exit> {
    this.client.close()
    this.signal('SIGTERM')
    const late = setTimeout(() => this.signal('SIGKILL'), 60_000)
    const exit = await this.exited
    clearTimeout(late)
    if (this.ownsFolder) rmSync(this.dataDir, { recursive: true, force: true })
    return exit
  }
}

/** What a process has printed so far. */
interface Output {
  readonly stdout: string
  readonly stderr: string
  /** Waits for a text on stdout; resolves with the first group of the pattern. */
  find(pattern: RegExp, patienceMs: number): Promise<string>
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
  }: {
    readonly nodeFlags?: readonly string[]
    readonly environment?: ProcessOptions['environment'] | undefined
    readonly processor?: ProcessOptions['processor']
  } = {},
): Launched {
  // taskset replaces itself with the command, so that the process id is the server's.
  const [file, ...words] = [...(processor === undefined ? [] : ['taskset', '-c', String(processor)]), process.execPath]
  const child = spawn(file as string, [...words, ...nodeFlags, commandPath, ...argv], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  living.add(child)
  child.once('close', () => living.delete(child))
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  const find = (pattern: RegExp, patienceMs: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const fail = (why: string) => () => {
        clearTimeout(timer)
        reject(new Error(`${why}\n${stdout}${stderr}`))
      }
      const timer = setTimeout(fail('the server did not become ready'), patienceMs)
      const look = (): void => {
        const found = pattern.exec(stdout)?.[1]
        if (found === undefined) return
        clearTimeout(timer)
        child.stdout?.off('data', look)
        resolve(found)
      }
      child.stdout?.on('data', look)
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

/** Starts a server and kills it after a while, whether it is ready by then or not. */
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

/** Runs the command to its end; one that does not end is killed and shows as a signal. */
export async function runCommand(argv: readonly string[], patienceMs = 60_000): Promise<Finished> {
  const { child, output } = launch(argv)
  const late = setTimeout(() => child.kill('SIGKILL'), patienceMs)
  const exit = await exitOf(child)
  clearTimeout(late)
  return { ...exit, stdout: output.stdout, stderr: output.stderr }
}
