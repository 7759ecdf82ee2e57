// What is served is read once for all who ask, and each waits for it with its own patience.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Discovery } from './discovery.js'
import { ProtocolError } from './errors.js'
import { Requester } from './requester.js'
import type { TransportResponse } from './transport.js'

test("nobody's signal or time ends what others wait for", async () => {
  const answers: ((text: string) => void)[] = []
  const send = (): Promise<TransportResponse> =>
    new Promise((resolve) => {
      answers.push((text) =>
        resolve({ status: 200, header: () => 'application/json', text: async () => text } as unknown as TransportResponse),
      )
    })
  const transport = { send, close: () => undefined } as unknown as ConstructorParameters<typeof Requester>[0]['transport']
  const discovery = new Discovery(new Requester({ transport }))
  const controller = new AbortController()
  const impatient = discovery.all({ signal: controller.signal })
  const short = discovery.all({ timeoutMs: 1 })
  const patient = discovery.all()
  controller.abort(new Error('no time'))
  await assert.rejects(impatient, /no time/)
  await assert.rejects(short, /no answer within 1 ms/)
  const answer = (): void => {
    for (const tell of answers.splice(0)) tell(JSON.stringify({ kind: 'APIGroupDiscoveryList', items: [] }))
  }
  const answering = setInterval(answer, 1)
  assert.deepEqual((await patient).resources, [])
  clearInterval(answering)
})

/** A client for a server that answers each path with the same. */
const discoveryOf = (answers: { readonly [path: string]: unknown }): Discovery => {
  const send = async ({ path }: { readonly path: string }): Promise<TransportResponse> =>
    ({ status: 200, header: () => '', text: async () => JSON.stringify(answers[path]) }) as unknown as TransportResponse
  const transport = { send, close: () => undefined } as unknown as ConstructorParameters<typeof Requester>[0]['transport']
  return new Discovery(new Requester({ transport }))
}

test('documents in a form that cannot be read are told, with the place of what is wrong', async () => {
  const aggregated = (items: unknown): unknown => ({ kind: 'APIGroupDiscoveryList', items })
  const none = aggregated([])
  const resource = (more: object): unknown => aggregated([{ versions: [{ version: 'v1', resources: [{ resource: 'pods', ...more }] }] }])
  for (const [answers, place] of [
    [{ '/api': null, '/apis': none }, '/api in a form that cannot be read: it is no object'],
    [{ '/api': none, '/apis': [] }, '/apis in a form that cannot be read: it is no object'],
    [{ '/api': none, '/apis': aggregated('all') }, 'items is no list'],
    [{ '/api': aggregated([null]), '/apis': none }, 'items[0] is no object'],
    [{ '/api': aggregated([{ versions: {} }]), '/apis': none }, 'items[0].versions is no list'],
    [{ '/api': resource({ responseKind: { kind: 7 } }), '/apis': none }, 'items[0].versions[0].resources[0].responseKind.kind is no text'],
    [{ '/api': resource({ verbs: ['get', 1] }), '/apis': none }, 'resources[0].verbs[1] is no text'],
    [{ '/api': { versions: 'v1' }, '/apis': {} }, 'versions is no list'],
    [{ '/api': { versions: ['v1'] }, '/apis': {}, '/api/v1': { resources: [{ name: 1 }] } }, '/api/v1 in a form'],
    [
      { '/api': { versions: ['v1'] }, '/apis': {}, '/api/v1': { resources: [{ namespaced: 'no' }] } },
      'namespaced is neither true nor false',
    ],
  ] as const)
    await assert.rejects(
      discoveryOf(answers).all(),
      (error) => error instanceof ProtocolError && error.message.includes(place),
      JSON.stringify(answers),
    )
})

test('what a server leaves out, or writes null for, is nothing', async () => {
  const empty = { resources: [], apiVersions: [], failures: [] }
  for (const nothing of [
    {},
    { kind: 'APIGroupDiscoveryList' },
    { kind: 'APIGroupDiscoveryList', items: null },
    { versions: null, groups: null },
  ])
    assert.deepEqual(await discoveryOf({ '/api': nothing, '/apis': nothing }).all(), empty)
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
