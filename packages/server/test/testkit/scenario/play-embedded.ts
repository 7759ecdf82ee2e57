// Plays the scenario with the embedding API: the results of each step, as the players of other languages print them.

import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import type { ApiClient } from '../../../../../test/kit/api-client.js'
import { clientOf } from '../../../../../test/kit/embedded.js'

type Key = string | number

interface Step {
  readonly do: string
  readonly expect: readonly unknown[]
  readonly pick?: readonly (readonly Key[])[]
  /** Picked texts are shortened to this length. */
  readonly chars?: number
  readonly [field: string]: unknown
}

export interface Scenario {
  readonly flags: readonly string[]
  readonly steps: readonly Step[]
}

type Result = readonly [status: unknown, value: unknown]
type Rule = Parameters<EmbeddedServer['faults']['add']>[0]
type Filter = Parameters<EmbeddedServer['requests']['all']>[0]

export async function playEmbedded({ flags, steps }: Scenario): Promise<readonly (readonly unknown[])[]> {
  const server = await startServer({ flags })
  const client = clientOf(server)
  try {
    const results: unknown[][] = []
    for (const step of steps) {
      const [status, value] = step.do === 'api' ? await request(client, step) : await act(server, step)
      results.push([status, ...(step.pick ?? []).map((path) => shorten(pick(toJson(value), path), step.chars))])
    }
    return results
  } finally {
    client.close()
    await server.close({ immediately: true })
  }
}

async function request(client: ApiClient, step: Step): Promise<Result> {
  const { method, path, body } = step as Step & { readonly method: string; readonly path: string }
  try {
    const { status, json } = await client.send({ method, path, body })
    return [status, json]
  } catch {
    return [0, undefined]
  }
}

async function act(server: EmbeddedServer, step: Step): Promise<Result> {
  try {
    return ['ok', await actions[step.do]?.(server, step)]
  } catch {
    return ['error', undefined]
  }
}

const actions: { readonly [name: string]: (server: EmbeddedServer, step: Step) => unknown } = {
  fault: ({ faults }, { rule }) => faults.add(rule as Rule),
  faults: ({ faults }) => faults.list(),
  checkFaults: ({ faults }) => faults.check(),
  clearFaults: ({ faults }) => faults.clear(),
  advance: async ({ clock }, { by }) => {
    await clock.advance(by as string)
    return clock.now()
  },
  setClock: async ({ clock }, { to }) => {
    await clock.set(to as string)
    return clock.now()
  },
  idle: (server) => server.idle(),
  history: (server, { object }) => server.history(object as string).versions,
  requests: ({ requests }, { filter }) => requests.all(filter as Filter),
  clearRequests: ({ requests }) => requests.clear(),
}

const toJson = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)))

const pick = (value: unknown, path: readonly Key[]): unknown =>
  path.reduce<unknown>((found, key) => (found as { readonly [key: Key]: unknown } | undefined | null)?.[key], value) ?? null

const shorten = (value: unknown, chars: number | undefined): unknown => (typeof value === 'string' ? value.slice(0, chars) : value)
