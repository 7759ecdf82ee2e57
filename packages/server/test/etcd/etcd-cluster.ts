// A real etcd for tests: members on loopback with temporary data folders, which can be stopped, killed and restarted.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { connectSocket, type EtcdTls, parseEndpoint } from '../../src/storage/etcd/etcd-endpoint.js'
import { decodeStatus, type MemberStatus, methods } from '../../src/storage/etcd/grpc/etcd-messages.js'
import { GrpcChannel } from '../../src/storage/etcd/grpc/grpc-channel.js'

const environment = { ...process.env, ...(process.arch === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {}) }

const failureFile = join(tmpdir(), 'etcd-test-install-failed')
const failureCacheMs = 600_000

/** Reason why etcd is not available; undefined if it is. Installs Debian's package if possible. */
export const whyNoEtcd: string | undefined = findEtcd()

function findEtcd(): string | undefined {
  if (hasEtcd()) return undefined
  if (process.getuid?.() !== 0) return 'etcd is not installed, and only root can install it (Debian: etcd-server)'
  try {
    withInstallLock(() => hasEtcd() || installEtcd())
  } catch (error) {
    return `etcd is not installed, and installing it failed: ${error instanceof Error ? error.message : error}`
  }
  return hasEtcd() ? undefined : 'etcd is not installed'
}

/** A recent failure is not retried by every test file. */
function installEtcd(): void {
  const failed = statSync(failureFile, { throwIfNoEntry: false })
  if (failed && Date.now() - failed.mtimeMs < failureCacheMs) throw new Error(readFileSync(failureFile, 'utf8'))
  try {
    const options = { stdio: 'ignore', timeout: 60_000, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const
    execFileSync('apt-get', ['update'], options)
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'etcd-server'], options)
  } catch (error) {
    writeFileSync(failureFile, errorMessage(error))
    throw error
  }
}

/** apt must not run concurrently in several test files. */
function withInstallLock(work: () => unknown): void {
  const lock = join(tmpdir(), 'etcd-test-install')
  for (let waitedMs = 0; waitedMs < 120_000 && !tryCreateFolder(lock); waitedMs += 500) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  }
  try {
    work()
  } finally {
    rmSync(lock, { recursive: true, force: true })
  }
}

function tryCreateFolder(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch {
    return false
  }
}

function hasEtcd(): boolean {
  try {
    execFileSync('etcd', ['--version'], { stdio: 'ignore', env: environment })
    return true
  } catch {
    return false
  }
}

interface ClusterOptions {
  readonly members: number
  readonly flags?: readonly string[]
  /** Flags and client settings for TLS. */
  readonly tls?: { readonly serverFlags: readonly string[]; readonly client: EtcdTls }
}

interface Member {
  readonly name: string
  readonly clientUrl: string
  readonly flags: readonly string[]
  process: ChildProcess | undefined
}

const runningProcesses = new Set<ChildProcess>()

if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  after(() => {
    for (const child of runningProcesses) child.kill('SIGKILL')
  })
}

export class EtcdCluster {
  readonly #folder: string
  readonly #members: readonly Member[]
  readonly #tls: EtcdTls

  /** Data folders of the members. */
  get folder(): string {
    return this.#folder
  }

  private constructor(folder: string, members: readonly Member[], tls: EtcdTls) {
    this.#folder = folder
    this.#members = members
    this.#tls = tls
  }

  /** Resolves when every member knows a leader. Retries with other ports if another process took one. */
  static async start(options: ClusterOptions): Promise<EtcdCluster> {
    for (let tries = 1; ; tries++) {
      const cluster = await EtcdCluster.prepare(options)
      try {
        await cluster.ready()
        return cluster
      } catch (thrown) {
        await cluster.stop()
        if (tries === 3) throw thrown
      }
    }
  }

  private static async prepare({ members, flags = [], tls }: ClusterOptions): Promise<EtcdCluster> {
    const folder = mkdtempSync(join(tmpdir(), 'etcd-test-'))
    const scheme = tls ? 'https' : 'http'
    const ports = await freePorts(members * 2)
    const names = Array.from({ length: members }, (_, index) => `m${index}`)
    const peerUrl = (index: number): string => `http://127.0.0.1:${ports[members + index]}`
    const initial = names.map((name, index) => `${name}=${peerUrl(index)}`).join(',')
    const list = names.map((name, index): Member => {
      const clientUrl = `${scheme}://127.0.0.1:${ports[index]}`
      const memberFlags = [
        `--name=${name}`,
        `--data-dir=${join(folder, name)}`,
        `--listen-client-urls=${clientUrl}`,
        `--advertise-client-urls=${clientUrl}`,
        `--listen-peer-urls=${peerUrl(index)}`,
        `--initial-advertise-peer-urls=${peerUrl(index)}`,
        `--initial-cluster=${initial}`,
        '--logger=zap',
        '--log-level=warn',
        '--heartbeat-interval=50',
        '--election-timeout=500',
        '--max-request-bytes=8388608',
      ]
      return { name, clientUrl, flags: [...memberFlags, ...(tls?.serverFlags ?? []), ...flags], process: undefined }
    })
    const cluster = new EtcdCluster(folder, list, tls?.client ?? {})
    for (const index of list.keys()) cluster.startMember(index)
    return cluster
  }

  get endpoints(): readonly string[] {
    return this.#members.map(({ clientUrl }) => clientUrl)
  }

  /** Process ids of started members. */
  get pids(): readonly number[] {
    return this.#members.flatMap(({ process: child }) => child?.pid ?? [])
  }

  startMember(index: number): void {
    const member = this.#member(index)
    const log = openSync(join(this.#folder, `${member.name}.log`), 'a')
    const child = spawn('etcd', member.flags, { stdio: ['ignore', log, log], env: environment })
    closeSync(log)
    runningProcesses.add(child)
    child.once('exit', () => runningProcesses.delete(child))
    member.process = child
  }

  signal(index: number, signal: NodeJS.Signals): void {
    this.#member(index).process?.kill(signal)
  }

  async kill(index: number): Promise<void> {
    const member = this.#member(index)
    const child = member.process
    member.process = undefined
    if (!child || child.exitCode !== null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await exited
  }

  /** Index of the current leader. */
  async leader(): Promise<number> {
    for (;;) {
      for (const index of this.#members.keys()) if ((await this.status(index))?.isLeader) return index
      await sleep(50)
    }
  }

  /** Resolves when every started member knows a leader. */
  async ready(): Promise<void> {
    for (const [index, { process: child }] of this.#members.entries()) {
      while (child && !(await this.status(index))?.hasLeader) {
        if (child.exitCode !== null) throw new Error(`etcd ended at once, with ${child.exitCode}; see ${this.#folder}`)
        await sleep(50)
      }
    }
  }

  async status(index: number): Promise<MemberStatus | undefined> {
    const { clientUrl, process: child } = this.#member(index)
    if (!child) return undefined
    try {
      const socket = await connectSocket(parseEndpoint(clientUrl), { tls: this.#tls, timeoutMs: 2000 })
      const channel = new GrpcChannel({ socket, url: clientUrl })
      try {
        return decodeStatus(await channel.call(methods.status, Buffer.alloc(0), 2000))
      } finally {
        channel.close('done')
      }
    } catch {
      return undefined
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map((_, index) => this.kill(index)))
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #member(index: number): Member {
    const member = this.#members[index]
    if (!member) throw new RangeError(`there is no member ${index}`)
    return member
  }
}

/** Free ports; another process may take one before etcd does. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports: number[] = []
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address && typeof address === 'object') ports.push(address.port)
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
