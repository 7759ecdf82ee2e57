// Discovery: one shared request, each caller with its own signal and timeout; broken documents.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Discovery } from './discovery.js'
import { ProtocolError } from './errors.js'
import { Requester } from './requests/requester.js'
import type { TransportResponse } from './transport/transport.js'

test('signal and timeout of one caller do not end the discovery of others', async () => {
  const responses: ((text: string) => void)[] = []
  const send = (): Promise<TransportResponse> =>
    new Promise((resolve) => {
      responses.push((text) =>
        resolve({ status: 200, header: () => 'application/json', text: async () => text } as unknown as TransportResponse),
      )
    })
  const transport = { send, close: () => undefined } as unknown as ConstructorParameters<typeof Requester>[0]['transport']
  const discovery = new Discovery(new Requester({ transport }))
  const controller = new AbortController()
  const aborted = discovery.all({ signal: controller.signal })
  const timedOut = discovery.all({ timeoutMs: 1 })
  const waiting = discovery.all()
  controller.abort(new Error('no time'))
  await assert.rejects(aborted, /no time/)
  await assert.rejects(timedOut, /no response within 1 ms/)
  const respond = (): void => {
    for (const resolveResponse of responses.splice(0)) resolveResponse(JSON.stringify({ kind: 'APIGroupDiscoveryList', items: [] }))
  }
  const timer = setInterval(respond, 1)
  assert.deepEqual((await waiting).resources, [])
  clearInterval(timer)
})

/** Discovery of a server with one fixed response per path. */
const discoveryOf = (responses: { readonly [path: string]: unknown }): Discovery => {
  const send = async ({ path }: { readonly path: string }): Promise<TransportResponse> =>
    ({ status: 200, header: () => '', text: async () => JSON.stringify(responses[path]) }) as unknown as TransportResponse
  const transport = { send, close: () => undefined } as unknown as ConstructorParameters<typeof Requester>[0]['transport']
  return new Discovery(new Requester({ transport }))
}

test('documents with wrong types are rejected with the path of the field', async () => {
  const aggregated = (items: unknown): unknown => ({ kind: 'APIGroupDiscoveryList', items })
  const emptyList = aggregated([])
  const resource = (fields: object): unknown =>
    aggregated([{ versions: [{ version: 'v1', resources: [{ resource: 'pods', ...fields }] }] }])
  for (const [responses, message] of [
    [{ '/api': null, '/apis': emptyList }, '/api with a wrong type: it is not an object'],
    [{ '/api': emptyList, '/apis': [] }, '/apis with a wrong type: it is not an object'],
    [{ '/api': emptyList, '/apis': aggregated('all') }, 'items is not a list'],
    [{ '/api': aggregated([null]), '/apis': emptyList }, 'items[0] is not an object'],
    [{ '/api': aggregated([{ versions: {} }]), '/apis': emptyList }, 'items[0].versions is not a list'],
    [
      { '/api': resource({ responseKind: { kind: 7 } }), '/apis': emptyList },
      'items[0].versions[0].resources[0].responseKind.kind is not a string',
    ],
    [{ '/api': resource({ verbs: ['get', 1] }), '/apis': emptyList }, 'resources[0].verbs[1] is not a string'],
    [{ '/api': { versions: 'v1' }, '/apis': {} }, 'versions is not a list'],
    [{ '/api': { versions: ['v1'] }, '/apis': {}, '/api/v1': { resources: [{ name: 1 }] } }, '/api/v1 with a wrong type'],
    [{ '/api': { versions: ['v1'] }, '/apis': {}, '/api/v1': { resources: [{ namespaced: 'no' }] } }, 'namespaced is not a boolean'],
  ] as const)
    await assert.rejects(
      discoveryOf(responses).all(),
      (error) => error instanceof ProtocolError && error.message.includes(message),
      JSON.stringify(responses),
    )
})

test('missing and null fields are empty', async () => {
  const empty = { resources: [], apiVersions: [], failures: [] }
  for (const body of [
    {},
    { kind: 'APIGroupDiscoveryList' },
    { kind: 'APIGroupDiscoveryList', items: null },
    { versions: null, groups: null },
  ])
    assert.deepEqual(await discoveryOf({ '/api': body, '/apis': body }).all(), empty)
  const nulls = { resource: null, responseKind: null, verbs: null, shortNames: null, categories: null, subresources: null }
  const versions = [{ version: null, resources: [nulls] }, { resources: null }]
  const aggregated = { kind: 'APIGroupDiscoveryList', items: [{ metadata: null, versions }, { versions: null }] }
  const { resources } = await discoveryOf({ '/api': aggregated, '/apis': { kind: 'APIGroupDiscoveryList' } }).all()
  assert.deepEqual([resources[0]?.resource, resources[0]?.verbs, resources.length], ['', [], 1])
  const single = {
    resources: [
      { name: 'pods', kind: null, verbs: null },
      { name: 'pods/log', verbs: null },
    ],
  }
  const [pods] = (await discoveryOf({ '/api': { versions: ['v1'] }, '/apis': { groups: [{ versions: null }] }, '/api/v1': single }).all())
    .resources
  assert.deepEqual([pods?.kind, pods?.verbs, pods?.subresources], ['', [], [{ name: 'log', kind: '', verbs: [] }]])
})
