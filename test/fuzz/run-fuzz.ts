// A fuzz of a server in a process of its own. Four things are watched: it lives, /livez answers soon, memory returns, and every answer can be read.

import { expectStatus, sleep } from '../kit/fixtures.js'
import { longestTurnMs, turnWatchFlags } from '../kit/longest-turn.js'
import { frugalAllocator, memoryInUse, memoryWatchFlags } from '../kit/memory-in-use.js'
import { randomFrom } from '../kit/seeded-random.js'
import { ServerProcess } from '../kit/server-process.js'
import { problemOf } from './check-answer.js'
import { FuzzClient, type Outcome } from './fuzz-client.js'
import { type FuzzRequest, makeRequest, protobufType, type Seeds } from './fuzz-requests.js'
import { customDefinition, hookedNamespace, samples } from './fuzz-samples.js'
import { openHooks } from './hook-answers.js'

export interface FuzzOptions {
  readonly seed: number
  readonly isOver: (requests: number) => boolean
  /** How long /livez may take, and the event loop may be held. */
  readonly livezMs: number
  /** How much more may be in use when all garbage is collected. */
  readonly growthMiB: number
  /** How much more may be taken from the system: with what is free, and with what no collection knows of. */
  readonly ownGrowthMiB: number
  /** After so many requests caches are full and code is compiled: memory is compared with what it is then. */
  readonly warmUpRequests: number
  /** How long nothing is asked for before memory is looked at: long enough for idle worker threads to end. */
  readonly restMs: number
  readonly say?: (line: string) => void
}

export interface FuzzReport {
  readonly requests: number
  readonly codes: Readonly<Record<string, number>>
  readonly findings: readonly string[]
  readonly longestTurnMs: number
  readonly before: Memory | undefined
  readonly after: Memory | undefined
}

/** Both in MiB. */
interface Memory {
  /** When all garbage is collected. */
  readonly inUse: number
  /** Taken from the system, without the pages of files. */
  readonly own: number
}

const atOnce = 12
const mostFindings = 50
/** For a request that is asked again, on a machine that has more to do than it can. */
const longPatienceMs = 60_000

export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const server = await ServerProcess.start({
    nodeFlags: [...turnWatchFlags, ...memoryWatchFlags],
    environment: frugalAllocator,
    flags: ['--read-cache-bytes=1MiB', '--request-timeout=20s'],
  })
  const hooks = await openHooks(server, options.seed)
  try {
    return await new Fuzz(server, options).run()
  } finally {
    hooks.close()
    await server.stop()
  }
}

class Fuzz {
  private readonly server: ServerProcess
  private readonly options: FuzzOptions
  private readonly client: FuzzClient
  private readonly prober: FuzzClient
  private readonly findings = new Map<string, string>()
  private readonly codes: Record<string, number> = {}
  /** Those that were on their way when /livez was slow. */
  private readonly suspects: { readonly request: FuzzRequest; readonly protocol: 1 | 2 }[] = []
  private readonly unanswered: { readonly request: FuzzRequest; readonly protocol: 1 | 2 }[] = []
  private readonly underWay = new Set<{ readonly request: FuzzRequest; readonly protocol: 1 | 2 }>()
  private requests = 0
  private longestTurnMs = 0
  private logAt = 0
  private isDone = false

  constructor(server: ServerProcess, options: FuzzOptions) {
    this.server = server
    this.options = options
    this.client = new FuzzClient(server.access)
    this.prober = new FuzzClient(server.access)
  }

  async run(): Promise<FuzzReport> {
    let seeds = await makeSeeds(this.server)
    const random = randomFrom(this.options.seed)
    const probing = this.probe()
    let before: Memory | undefined
    let freshAt = 2000
    while (!this.options.isOver(this.requests) && this.findings.size < mostFindings && !this.isDead()) {
      const some = Array.from({ length: 4 * atOnce }, () => ({
        request: makeRequest(random, seeds),
        protocol: (1 + random.below(2)) as 1 | 2,
      }))
      const next = some.values()
      await Promise.all(Array.from({ length: atOnce }, () => this.sendAll(next)))
      this.readLog()
      await this.clearSuspects()
      if (this.requests < freshAt) continue
      freshAt += 5000
      seeds = await makeSeeds(this.server)
      if (before === undefined && this.requests >= this.options.warmUpRequests) before = await this.memory()
      this.options.say?.(`${this.requests} requests, ${this.findings.size} findings, ${this.server.ownBytes >> 20} MiB`)
    }
    this.isDone = true
    await probing
    const after = this.isDead() ? undefined : await this.memory()
    if (before !== undefined && after !== undefined) this.compare(before, after)
    if (this.isDead()) this.find('death', `the server ended: ${this.server.stderr.slice(-2000)}`)
    this.client.close()
    this.prober.close()
    const findings = [...this.findings.values()]
    return { requests: this.requests, codes: this.codes, findings, longestTurnMs: this.longestTurnMs, before, after }
  }

  /** With nothing under way. */
  private async memory(): Promise<Memory> {
    await sleep(this.options.restMs)
    const inUse = await memoryInUse(this.server)
    const memory = { inUse: inUse / (1 << 20), own: this.server.ownBytes / (1 << 20) }
    this.options.say?.(
      `${this.requests} requests: ${memory.inUse.toFixed(1)} MiB in use, ${memory.own.toFixed(1)} MiB taken from the system`,
    )
    return memory
  }

  private compare(before: Memory, after: Memory): void {
    const { growthMiB, ownGrowthMiB } = this.options
    const inUse = after.inUse - before.inUse
    const own = after.own - before.own
    if (inUse > growthMiB) this.find('memory in use', `memory in use grew by ${inUse.toFixed(1)} MiB`)
    if (own > ownGrowthMiB) this.find('own memory', `memory taken from the system grew by ${own.toFixed(1)} MiB`)
  }

  private isDead(): boolean {
    try {
      process.kill(this.server.pid, 0)
      return false
    } catch {
      return true
    }
  }

  private find(key: string, text: string): void {
    if (this.findings.has(key)) return
    this.findings.set(key, text)
    this.options.say?.(`FOUND ${text}`)
  }

  private async sendAll(next: Iterator<{ readonly request: FuzzRequest; readonly protocol: 1 | 2 }>): Promise<void> {
    for (let step = next.next(); !step.done; step = next.next()) {
      const sending = step.value
      this.underWay.add(sending)
      const outcome = await this.client.send(sending.request, sending.protocol)
      this.underWay.delete(sending)
      // A machine may be too busy for anybody: it is asked again, alone.
      if (outcome === 'late' && !/watch/.test(sending.request.path)) this.unanswered.push(sending)
      this.check(sending.request, outcome)
    }
  }

  private check(request: FuzzRequest, outcome: Outcome): void {
    if (outcome === 'unsendable') return
    this.requests++
    const code = typeof outcome === 'string' ? outcome : String(outcome.status)
    this.codes[code] = (this.codes[code] ?? 0) + 1
    if (outcome === 'closed' || outcome === 'late') return
    const problem = problemOf(request.method, outcome, request.path.includes(hookedNamespace))
    if (problem !== undefined) this.find(`${request.method} ${problem.slice(0, 40)}`, `${problem}\n  ${tell(request)}`)
  }

  /** Asks for /livez again and again; who was being served when it took long has to explain itself. */
  private async probe(): Promise<void> {
    while (!this.isDone) {
      const tookMs = await this.livezMs()
      if (tookMs > this.options.livezMs) this.suspects.push(...this.underWay)
      await sleep(20)
    }
  }

  private async livezMs(): Promise<number> {
    const begun = performance.now()
    await this.prober.send({ method: 'GET', path: '/livez', headers: {} }, 1)
    return performance.now() - begun
  }

  /** A busy machine makes everybody wait; a request is to blame when it holds the event loop by itself, each of four times. */
  private async clearSuspects(): Promise<void> {
    for (const { request, protocol } of this.unanswered.splice(0))
      if ((await this.client.send(request, protocol, longPatienceMs)) === 'late')
        this.find(`no answer ${request.method}`, `no answer\n  ${tell(request)}`)
    const suspects = this.suspects.splice(0)
    for (const { request, protocol } of suspects.slice(0, 3 * atOnce)) {
      if (this.isDead()) return
      const turnMs = await longestTurnMs(this.server, () => this.client.send(request, protocol), this.options.livezMs, 4)
      this.longestTurnMs = Math.max(this.longestTurnMs, turnMs)
      if (turnMs > this.options.livezMs)
        this.find(
          `slow ${request.method} ${request.path.slice(0, 40)}`,
          `${turnMs.toFixed(0)} ms of the event loop for\n  ${tell(request)}`,
        )
    }
  }

  private readLog(): void {
    const log = this.server.stdout + this.server.stderr
    for (const line of log.slice(this.logAt).split('\n'))
      if (line.includes('internal error')) this.find(line.slice(0, 60), line.slice(0, 3000))
    this.logAt = log.length
  }
}

const tell = ({ method, path, headers, body }: FuzzRequest): string =>
  `${method} ${path} ${JSON.stringify(headers)}\n  ${body === undefined ? '' : JSON.stringify(body.toString('latin1').slice(0, 2000))} (${body?.length ?? 0} bytes)`

/** Objects to aim at, and what only the server can make. */
async function makeSeeds(server: ServerProcess): Promise<Seeds> {
  const { client } = server
  await client.post('/api/v1/namespaces', { metadata: { name: 'fuzz' } })
  await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', customDefinition)
  const protobufs: Seeds['protobufs'][number][] = []
  for (const { collection, object, isDry } of samples) {
    const { name } = object['metadata'] as { readonly name: string }
    if (!isDry) await client.post(collection, object)
    const { status, bytes } = await client.get(`${collection}/${name}`, { accept: protobufType })
    if (status === 200) protobufs.push({ collection, bytes })
  }
  for (const name of ['one', 'two']) await client.post('/api/v1/namespaces/fuzz/configmaps', { metadata: { name } })
  const page = expectStatus(await client.get('/api/v1/namespaces/fuzz/configmaps?limit=1'), 200).json
  const asked = await client.post('/api/v1/namespaces/fuzz/serviceaccounts/default/token', { spec: {} })
  return {
    token: server.access.token ?? '',
    accountToken: String((asked.json['status'] as { readonly token?: string } | undefined)?.token ?? ''),
    continueToken: String(page.metadata['continue'] ?? ''),
    resourceVersion: String(page.metadata['resourceVersion']),
    protobufs,
  }
}
