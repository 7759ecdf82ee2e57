// Objects, assertions and waiting functions for tests.

import assert from 'node:assert/strict'
import type { ApiClient, ApiResponse } from './api-client.js'
import type { JsonObject } from './network/json-object.js'

let namespaces = 0

/** Creates a namespace and returns its unique name. */
export async function newNamespace(client: ApiClient, prefix = 'test'): Promise<string> {
  namespaces += 1
  const name = `${prefix}-${namespaces}`
  expectStatus(await client.post('/api/v1/namespaces', { metadata: { name } }), 201)
  return name
}

export const configMaps = (namespace: string, name?: string): string =>
  `/api/v1/namespaces/${namespace}/configmaps${name === undefined ? '' : `/${name}`}`

interface ConfigMapInput {
  readonly labels?: Readonly<Record<string, string>>
  readonly data?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly annotations?: Readonly<Record<string, string>>
}

export const configMapOf = (name: string, { data, ...metadata }: ConfigMapInput = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  ...(data === undefined ? {} : { data }),
})

/** Creates a ConfigMap and returns the response. */
export async function makeConfigMap(client: ApiClient, namespace: string, object: ReturnType<typeof configMapOf>): Promise<JsonObject> {
  return expectStatus(await client.post(configMaps(namespace), object), 201).json
}

export function expectStatus(response: ApiResponse, status: number): ApiResponse {
  // Responses may be large: the text is only decoded on failure.
  if (response.status !== status) assert.equal(response.status, status, response.text.slice(0, 600))
  return response
}

/** Checks for a Status with this code and reason. */
export function expectFailure(response: ApiResponse, code: number, reason: string): JsonObject {
  const { json } = expectStatus(response, code)
  assert.equal(json.kind, 'Status')
  assert.equal(json['status'], 'Failure')
  assert.equal(json.reason, reason, response.text)
  assert.equal(json.code, code)
  return json
}

export const namesOf = (list: JsonObject): readonly string[] => list.items.map(({ metadata }) => metadata.name)

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Polls until `isGood` returns true. */
export async function until<T>(poll: () => Promise<T>, isGood: (value: T) => boolean, timeoutMs = 60_000): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const value = await poll()
    if (isGood(value)) return value
    if (Date.now() > end)
      throw new Error(`condition not met within ${timeoutMs} ms; last value: ${String(JSON.stringify(value)).slice(0, 600)}`)
    await sleep(50)
  }
}

/** Polls until the response has this status. */
export const untilStatus = (poll: () => Promise<ApiResponse>, status: number): Promise<ApiResponse> =>
  until(poll, (response) => response.status === status)

interface ApiGroup {
  readonly versions: readonly { readonly groupVersion: string }[]
  readonly preferredVersion: { readonly groupVersion: string }
}

/** Paths of all collections, in each version or only in the preferred one. Without componentstatuses, which are computed. */
export async function listPaths(client: ApiClient, which: 'all' | 'preferred' = 'all'): Promise<readonly string[]> {
  const { groups } = (await client.get('/apis')).json as unknown as { readonly groups: readonly ApiGroup[] }
  const versions = groups.flatMap((group) => (which === 'all' ? group.versions : [group.preferredVersion]))
  const paths: string[] = []
  for (const version of ['/api/v1', ...versions.map(({ groupVersion }) => `/apis/${groupVersion}`)]) {
    const { resources } = (await client.get(version)).json as unknown as {
      readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[]
    }
    for (const { name, verbs } of resources) if (verbs.includes('list') && name !== 'componentstatuses') paths.push(`${version}/${name}`)
  }
  return paths
}

/** CustomResourceDefinition of `wares.shop.example.com`; `version`: more members of its only version. */
export const wareCrd = (openAPIV3Schema: object, version: object = {}, group = 'apiextensions.cluster.io') => ({
  apiVersion: `${group}/v1`,
  kind: 'CustomResourceDefinition',
  metadata: { name: 'wares.shop.example.com' },
  spec: {
    group: 'shop.example.com',
    scope: 'Namespaced',
    names: { plural: 'wares', singular: 'ware', kind: 'Ware' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...version }],
  },
})
