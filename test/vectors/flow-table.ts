// Replays flow.json: flow schema and priority level of each request.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from 'cluster-apiserver'
import { ApiClient, type ApiResponse } from '../kit/api-client.js'
import { clientOf } from '../kit/embedded.js'
import { differenceOf } from './compare.js'
import type { ReplayedTable } from './tables.js'
import { writeTokens } from './token-users.js'

interface FlowRequest {
  readonly user: string
  readonly groups: readonly string[]
  readonly method: string
  readonly path: string
  readonly headers?: { readonly [name: string]: string | readonly string[] }
  readonly flowSchema: string | null
  readonly priorityLevel: string | null
  readonly code: number
}

interface FlowObject {
  readonly kind: string
  readonly metadata: { readonly name: string }
}

interface RejectedObject {
  readonly object: FlowObject
  readonly code: number
  readonly message: string
}

interface FlowTable {
  readonly bootstrapFlowSchemas: readonly { readonly name: string; readonly spec: unknown }[]
  readonly bootstrapPriorityLevels: readonly { readonly name: string; readonly spec: unknown }[]
  readonly bootstrap: readonly FlowRequest[]
  readonly impersonation: readonly FlowRequest[]
  readonly own: {
    readonly objects: readonly FlowObject[]
    readonly requests: readonly FlowRequest[]
    readonly dangling: readonly FlowRequest[]
    readonly refused?: readonly RejectedObject[]
  }
}

const group = '/apis/flowcontrol.apiserver.k8s.io/v1beta3'
const collections: { readonly [kind: string]: string } = {
  FlowSchema: `${group}/flowschemas`,
  PriorityLevelConfiguration: `${group}/prioritylevelconfigurations`,
}
const anonymous = 'system:anonymous'
const invalidTokenUser = '(bad token)'

export async function replayFlow(text: string): Promise<ReplayedTable> {
  const table = JSON.parse(text) as FlowTable
  const folder = mkdtempSync(join(tmpdir(), 'vectors-'))
  try {
    const requests = [...table.bootstrap, ...table.impersonation, ...table.own.requests, ...table.own.dangling]
    const server = await startServer({
      identity: 'kubernetes',
      flags: ['--authorization-mode=Node,RBAC', ...writeTokens(folder, requests.map(tokenUserOf))],
    })
    try {
      return await replayOn(new FlowReplay({ url: server.url, ca: server.caPem }, clientOf(server)), table)
    } finally {
      await server.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function replayOn(replay: FlowReplay, table: FlowTable): Promise<ReplayedTable> {
  for (const [kind, expected] of Object.entries({
    FlowSchema: table.bootstrapFlowSchemas,
    PriorityLevelConfiguration: table.bootstrapPriorityLevels,
  })) {
    for (const { name, spec } of expected) await replay.compareSpec(kind, name, spec)
  }
  await replay.sendAll('bootstrap', table.bootstrap)
  await replay.sendAll('impersonation', table.impersonation)
  const { objects, requests, dangling, refused = [] } = table.own
  const [beforeLevel, afterLevel] = [dangling.slice(0, 1), dangling.slice(1)]
  const lastObject = objects.at(-1)
  for (const object of objects.slice(0, -1)) await replay.create(object)
  await replay.sendAll('own', requests)
  await replay.sendAll('dangling', beforeLevel)
  if (lastObject !== undefined) await replay.create(lastObject)
  await replay.sendAll('no longer dangling', afterLevel)
  for (const each of refused) await replay.compareRejection(each)
  replay.close()
  return replay.result
}

/** One token per user and group list. */
const tokenUserOf = ({ user, groups }: FlowRequest) => ({
  token: flowTokenOf(user, groups),
  name: user,
  uid: '',
  groups: groups.filter((name) => name !== 'system:authenticated'),
})

const flowTokenOf = (user: string, groups: readonly string[]): string => `${user} ${groups.join(' ')}`.replace(/[^a-z0-9-]+/g, '-')

class FlowReplay {
  private readonly endpoint: { readonly url: string; readonly ca: string }
  private readonly admin: ApiClient
  private readonly clients = new Map<string, ApiClient>()
  private readonly compared: string[] = []
  private readonly differences = new Map<string, string>()

  constructor(endpoint: { readonly url: string; readonly ca: string }, admin: ApiClient) {
    this.endpoint = endpoint
    this.admin = admin
  }

  get result(): ReplayedTable {
    return { compared: this.compared, differences: this.differences }
  }

  close(): void {
    for (const client of [this.admin, ...this.clients.values()]) client.close()
  }

  async compareSpec(kind: string, name: string, spec: unknown): Promise<void> {
    const actual = (await this.admin.get(`${collections[kind]}/${name}`)).json['spec'] as unknown
    this.record(`${kind} ${name}`, differenceOf(spec, actual, new Map()))
  }

  async create(object: FlowObject): Promise<void> {
    const { status, text } = await this.admin.post(collections[object.kind] ?? '', object)
    this.record(`create ${object.kind} ${object.metadata.name}`, status === 201 ? undefined : `${status} ${text}`)
  }

  async compareRejection({ object, code, message }: RejectedObject): Promise<void> {
    const { status, json } = await this.admin.post(collections[object.kind] ?? '', object)
    const actual = { code: status, message: json['message'] as unknown }
    this.record(`refuse ${object.kind} ${object.metadata.name}`, differenceOf({ code, message }, actual, new Map()))
  }

  async sendAll(title: string, requests: readonly FlowRequest[]): Promise<void> {
    const names = await this.namesByUid()
    for (const request of requests) {
      const response = await this.send(request)
      const nameOf = (header: string): string | null => names.get(String(response.headers[`x-kubernetes-pf-${header}-uid`] ?? '')) ?? null
      const actual = { flowSchema: nameOf('flowschema'), priorityLevel: nameOf('prioritylevel') }
      const { flowSchema, priorityLevel, user, groups, method, path, headers } = request
      const name = [title, user, groups.join(','), method, path, ...(headers === undefined ? [] : [JSON.stringify(headers)])].join(' ')
      this.record(name, differenceOf({ flowSchema, priorityLevel }, actual, new Map()))
    }
  }

  private async namesByUid(): Promise<ReadonlyMap<string, string>> {
    const names = new Map<string, string>()
    for (const path of Object.values(collections)) {
      const { items } = (await this.admin.get(path)).json as unknown as {
        items: readonly { metadata: { uid: string; name: string } }[]
      }
      for (const { metadata } of items) names.set(metadata.uid, metadata.name)
    }
    return names
  }

  private send({ user, groups, method, path, headers = {} }: FlowRequest): Promise<ApiResponse> {
    const token = user === anonymous ? undefined : user === invalidTokenUser ? 'unknown' : flowTokenOf(user, groups)
    const key = token ?? ''
    let client = this.clients.get(key)
    if (client === undefined) {
      client = new ApiClient({ ...this.endpoint, ...(token === undefined ? {} : { token }) })
      this.clients.set(key, client)
    }
    // The response does not matter: only the classification is compared.
    const body = method === 'POST' || method === 'PUT' || method === 'PATCH' ? { body: {} } : {}
    return client.send({ method, path, headers: headers as Record<string, string>, ...body })
  }

  private record(name: string, difference: string | undefined): void {
    this.compared.push(name)
    if (difference !== undefined) this.differences.set(name, difference)
  }
}
