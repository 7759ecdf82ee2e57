// Objects and small deeds that many tests need.

import assert from 'node:assert/strict'
import type { Answer, ApiClient } from './api-client.js'
import type { Wire } from './wire.js'

let namespaces = 0

/** A namespace that no other test knows, and its name. */
export async function newNamespace(client: ApiClient, prefix = 'test'): Promise<string> {
  namespaces += 1
  const name = `${prefix}-${namespaces}`
  expectStatus(await client.post('/api/v1/namespaces', { metadata: { name } }), 201)
  return name
}

export const configMaps = (namespace: string, name?: string): string =>
  `/api/v1/namespaces/${namespace}/configmaps${name === undefined ? '' : `/${name}`}`

export interface ConfigMapInput {
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

/** Creates one and returns it as the server answered. */
export async function makeConfigMap(client: ApiClient, namespace: string, object: ReturnType<typeof configMapOf>): Promise<Wire> {
  return expectStatus(await client.post(configMaps(namespace), object), 201).json
}

export function expectStatus(answer: Answer, status: number): Answer {
  // Answers may be large: nobody reads the text of one that is as it should be.
  if (answer.status !== status) assert.equal(answer.status, status, answer.text.slice(0, 600))
  return answer
}

/** An error answer: a Status of that code and reason. */
export function expectFailure(answer: Answer, code: number, reason: string): Wire {
  const { json } = expectStatus(answer, code)
  assert.equal(json.kind, 'Status')
  assert.equal(json['status'], 'Failure')
  assert.equal(json.reason, reason, answer.text)
  assert.equal(json.code, code)
  return json
}

export const namesOf = (list: Wire): readonly string[] => list.items.map(({ metadata }) => metadata.name)

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Asks again until the answer pleases. */
export async function until<T>(ask: () => Promise<T>, isGood: (value: T) => boolean, patienceMs = 60_000): Promise<T> {
  const end = Date.now() + patienceMs
  for (;;) {
    const value = await ask()
    if (isGood(value)) return value
    if (Date.now() > end)
      throw new Error(`waited in vain for ${patienceMs} ms; the last value: ${String(JSON.stringify(value)).slice(0, 600)}`)
    await sleep(50)
  }
}
