// Fuzzes a server process. Checks that it stays up, /livez responds soon, memory is freed, and every response can be parsed.

import { eventLoopProbeFlags, longestBlockMs } from '../kit/event-loop-block.js'
import { expectStatus, sleep } from '../kit/fixtures.js'
import { frugalAllocator, memoryInUse, memoryProbeFlags } from '../kit/memory-in-use.js'
import { randomFrom } from '../kit/seeded-random.js'
import { ServerProcess } from '../kit/server-process.js'
import { problemOf } from './check-response.js'
import { FuzzClient, type Outcome } from './fuzz-client.js'
import { type FuzzRequest, makeRequest, protobufType, type Seeds } from './fuzz-requests.js'
import { customResourceDefinition, samples, webhookNamespace } from './fuzz-samples.js'
import { openWebhooks } from './webhook-responses.js'

interface FuzzOptions {
  readonly seed: number
  readonly isOver: (requests: number) => boolean
  /** Limit for /livez and for event-loop blocks, in milliseconds. */
  readonly livezMs: number
  /** Limit for growth of the memory after garbage collection. */
  readonly growthMiB: number
  /** Limit for growth of the resident memory, which includes free and untracked memory. */
  readonly residentGrowthMiB: number
  /** Warm-up requests before memory is measured: caches are full and code is compiled. */
  readonly warmUpRequests: number
  /** Idle time before memory is measured, so that idle worker threads end. */
  readonly restMs: number
  readonly log?: (line: string) => void
}

interface FuzzReport {
  readonly requests: number
  readonly codes: Readonly<Record<string, number>>
  readonly findings: readonly string[]
  readonly longestBlockMs: number
  readonly before: Memory | undefined
  readonly after: Memory | undefined
}

/** Memory of the server in MiB. */
interface Memory {
  /** After garbage collection. */
  readonly inUse: number
  /** Resident, without file pages. */
  readonly resident: number
}

const concurrency = 12
const maxFindings = 50
/** Timeout of a retry on a busy machine. */
const retryTimeoutMs = 60_000

export async function runFuzz(options: FuzzOptions): Promise<FuzzReport> {
  const server = await ServerProcess.start({
    nodeFlags: [...eventLoopProbeFlags, ...memoryProbeFlags],
    environment: frugalAllocator,
    flags: ['--read-cache-bytes=1MiB', '--request-timeout=20s'],
  })
  const webhooks = await openWebhooks(server, options.seed)
  try {
    return await new Fuzz(server, options).run()
  } finally {
    webhooks.close()
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
  /** Requests in flight while /livez was slow. */
  private readonly suspects: { readonly request: FuzzRequest; readonly protocol: 1 | 2 }[] = []
  /** Requests without a response in time, which are retried alone. */
  private readonly unanswered: { readonly request: FuzzRequest; readonly protocol: 1 | 2 }[] = []
  private readonly inFlight = new Set<{ readonly request: FuzzRequest; readonly protocol: 1 | 2 }>()
  private requests = 0
  private longestBlockMs = 0
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
    let nextSeedsAt = 2000
    while (!this.options.isOver(this.requests) && this.findings.size < maxFindings && !this.hasExited()) {
      const batch = Array.from({ length: 4 * concurrency }, () => ({
        request: makeRequest(random, seeds),
        protocol: (1 + random.below(2)) as 1 | 2,
      }))
      const next = batch.values()
      await Promise.all(Array.from({ length: concurrency }, () => this.sendAll(next)))
      this.readLog()
      await this.clearSuspects()
      if (this.requests < nextSeedsAt) continue
      nextSeedsAt += 5000
      seeds = await makeSeeds(this.server)
      if (before === undefined && this.requests >= this.options.warmUpRequests) before = await this.memory()
      this.options.log?.(`${this.requests} requests, ${this.findings.size} findings, ${this.server.ownBytes >> 20} MiB`)
    }
    this.isDone = true
    await probing
    const after = this.hasExited() ? undefined : await this.memory()
    if (before !== undefined && after !== undefined) this.compare(before, after)
    if (this.hasExited()) this.addFinding('death', `the server ended: ${this.server.stderr.slice(-2000)}`)
    this.client.close()
    this.prober.close()
    const findings = [...this.findings.values()]
    return { requests: this.requests, codes: this.codes, findings, longestBlockMs: this.longestBlockMs, before, after }
  }

  /** Measures while no request is in flight. */
  private async memory(): Promise<Memory> {
    await sleep(this.options.restMs)
    const inUse = await memoryInUse(this.server)
    const memory = { inUse: inUse / (1 << 20), resident: this.server.ownBytes / (1 << 20) }
    this.options.log?.(`${this.requests} requests: ${memory.inUse.toFixed(1)} MiB in use, ${memory.resident.toFixed(1)} MiB resident`)
    return memory
  }

  private compare(before: Memory, after: Memory): void {
    const { growthMiB, residentGrowthMiB } = this.options
    const inUse = after.inUse - before.inUse
    const resident = after.resident - before.resident
    if (inUse > growthMiB) this.addFinding('memory in use', `memory in use grew by ${inUse.toFixed(1)} MiB`)
    if (resident > residentGrowthMiB) this.addFinding('resident memory', `resident memory grew by ${resident.toFixed(1)} MiB`)
  }

  private hasExited(): boolean {
    try {
      process.kill(this.server.pid, 0)
      return false
    } catch {
      return true
    }
  }

  private addFinding(key: string, text: string): void {
    if (this.findings.has(key)) return
    this.findings.set(key, text)
    this.options.log?.(`FOUND ${text}`)
  }

  private async sendAll(next: Iterator<{ readonly request: FuzzRequest; readonly protocol: 1 | 2 }>): Promise<void> {
    for (let step = next.next(); !step.done; step = next.next()) {
      const sending = step.value
      this.inFlight.add(sending)
      const outcome = await this.client.send(sending.request, sending.protocol)
      this.inFlight.delete(sending)
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
    const problem = problemOf(request.method, outcome, request.path.includes(webhookNamespace))
    if (problem !== undefined) this.addFinding(`${request.method} ${problem.slice(0, 40)}`, `${problem}\n  ${renderRequest(request)}`)
  }

  /** Polls /livez; requests in flight during a slow response are suspects. */
  private async probe(): Promise<void> {
    while (!this.isDone) {
      const tookMs = await this.livezMs()
      if (tookMs > this.options.livezMs) this.suspects.push(...this.inFlight)
      await sleep(20)
    }
  }

  private async livezMs(): Promise<number> {
    const begun = performance.now()
    await this.prober.send({ method: 'GET', path: '/livez', headers: {} }, 1)
    return performance.now() - begun
  }

  /**
   * Repeats slow requests one by one, because on a busy machine everything is slow. Reports requests without a response in the retry,
   * and requests that block the event loop in each of four tries.
   */
  private async clearSuspects(): Promise<void> {
    for (const { request, protocol } of this.unanswered.splice(0))
      if ((await this.client.send(request, protocol, retryTimeoutMs)) === 'late')
        this.addFinding(`no response ${request.method}`, `no response\n  ${renderRequest(request)}`)
    const suspects = this.suspects.splice(0)
    for (const { request, protocol } of suspects.slice(0, 3 * concurrency)) {
      if (this.hasExited()) return
      const blockMs = await longestBlockMs(this.server, () => this.client.send(request, protocol), this.options.livezMs, 4)
      this.longestBlockMs = Math.max(this.longestBlockMs, blockMs)
      if (blockMs > this.options.livezMs)
        this.addFinding(
          `slow ${request.method} ${request.path.slice(0, 40)}`,
          `${blockMs.toFixed(0)} ms of the event loop for\n  ${renderRequest(request)}`,
        )
    }
  }

  private readLog(): void {
    const log = this.server.stdout + this.server.stderr
    for (const line of log.slice(this.logAt).split('\n'))
      if (line.includes('internal error')) this.addFinding(line.slice(0, 60), line.slice(0, 3000))
    this.logAt = log.length
  }
}

const renderRequest = ({ method, path, headers, body }: FuzzRequest): string =>
  `${method} ${path} ${JSON.stringify(headers)}\n  ${body === undefined ? '' : JSON.stringify(body.toString('latin1').slice(0, 2000))} (${body?.length ?? 0} bytes)`

/** Creates target objects and values that only the server can create. */
async function makeSeeds(server: ServerProcess): Promise<Seeds> {
  const { client } = server
  await client.post('/api/v1/namespaces', { metadata: { name: 'fuzz' } })
  await client.post('/apis/apiextensions.cluster.io/v1/customresourcedefinitions', customResourceDefinition)
  const protobufs: Seeds['protobufs'][number][] = []
  for (const { collection, object, isDry } of samples) {
    const { name } = object['metadata'] as { readonly name: string }
    if (!isDry) await client.post(collection, object)
    const { status, bytes } = await client.get(`${collection}/${name}`, { accept: protobufType })
    if (status === 200) protobufs.push({ collection, bytes })
  }
  for (const name of ['one', 'two']) await client.post('/api/v1/namespaces/fuzz/configmaps', { metadata: { name } })
  const page = expectStatus(await client.get('/api/v1/namespaces/fuzz/configmaps?limit=1'), 200).json
  const tokenResponse = await client.post('/api/v1/namespaces/fuzz/serviceaccounts/default/token', { spec: {} })
  return {
    token: server.access.token ?? '',
    accountToken: String((tokenResponse.json['status'] as { readonly token?: string } | undefined)?.token ?? ''),
    continueToken: String(page.metadata['continue'] ?? ''),
    resourceVersion: String(page.metadata['resourceVersion']),
    protobufs,
  }
}
