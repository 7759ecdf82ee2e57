// Hostile discovery documents of extension API servers: the APIService keeps its state, and other discovery is unaffected.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { ExtensionServer, register } from './extension-server.js'

interface AggregatedGroup {
  readonly metadata: { readonly name?: string }
  readonly versions: readonly { readonly freshness: string; readonly resources?: readonly { readonly resource: string }[] }[]
}

const list = (resources: unknown): string =>
  JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: 'lists.example/v1', resources })

const endless = (response: ServerResponse): void => {
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(64 << 10, ' ')));
  }
  response.on('drain', more)
  more()
}

const unusable: readonly (readonly [title: string, respond: (response: ServerResponse) => void])[] = [
  ['endless', endless],
  ['of 64 MiB', (response) => void response.end(Buffer.alloc(64 << 20, ' '))],
  ['nested 200,000 levels deep', (response) => void response.end(`{"resources":${'['.repeat(200_000)}`)],
  ['not a list', (response) => void response.end('{"kind":"APIResourceList","resources":{"length":1000000000}}')],
  [
    'of 6,000 resources',
    (response) => void response.end(list(Array.from({ length: 6000 }, (_, i) => ({ name: `r${i}`, kind: 'R', verbs: [] })))),
  ],
  [
    'cut in the middle',
    (response) => void response.writeHead(200, { 'content-length': '1000' }).write('{"kind":', () => response.destroy()),
  ],
]

describe('hostile APIResourceLists', () => {
  let running: Embedded
  before(async () => {
    running = await startEmbedded('memory', ['--feature-gates=AggregatedDiscoveryEndpoint=true'])
  })
  after(() => running.close())

  async function groups(): Promise<readonly AggregatedGroup[]> {
    const accept = 'application/json;g=apidiscovery.cluster.io;v=v2beta1;as=APIGroupDiscoveryList'
    const { json } = expectStatus(await running.client.get('/apis', { accept }), 200)
    return (json as unknown as { readonly items: readonly AggregatedGroup[] }).items
  }

  const versionOf = async (group: string) => (await groups()).find(({ metadata }) => metadata.name === group)?.versions[0]

  async function withList(
    respond: (response: ServerResponse) => void,
    check: (extension: ExtensionServer) => Promise<void>,
  ): Promise<void> {
    const extension = await ExtensionServer.start('lists.example')
    extension.behaviour = ({ url }, response) => {
      if (url !== '/apis/lists.example/v1') return undefined
      respond(response)
      return true
    }
    const service = await register(running.client, { server: extension })
    try {
      await check(extension)
    } finally {
      await running.client.delete(service)
      extension.close()
    }
  }

  const untilCurrent = () =>
    until(
      () => versionOf('lists.example'),
      (version) => version?.freshness === 'Current',
      60_000,
    )

  for (const [title, respond] of unusable)
    test(`a list that is ${title} is rejected, and a later valid one accepted`, async () => {
      await withList(respond, async (extension) => {
        // The probe, and two attempts to read the list.
        await until(
          async () => extension.seenAt('/apis/lists.example/v1').length,
          (times) => times >= 3,
          60_000,
        )
        const version = await versionOf('lists.example')
        assert.deepEqual([version?.freshness, version?.resources], ['Stale', undefined])
        assert.ok(((await versionOf('apps'))?.resources?.length ?? 0) > 3)
        expectStatus(await running.client.get('/api/v1/namespaces/default'), 200)
        extension.behaviour = () => undefined
        assert.equal((await untilCurrent())?.resources?.[0]?.resource, 'gadgets')
      })
    })

  test('resource names such as __proto__ are handled as ordinary names', async () => {
    const odd = ['__proto__', 'constructor', 'toString']
    const lines = [...odd, ...odd.map((name) => `${name}/__proto__`)].map((name) => ({
      name,
      kind: name,
      verbs: ['list'],
      group: '__proto__',
    }))
    const invalidEntries = [null, 7, 'x', [], {}, { name: 7 }, { name: ['a'], verbs: 'list' }, { name: 'half', verbs: [7, null, 'get'] }]
    await withList(
      (response) => void response.end(list([...lines, ...invalidEntries])),
      async () => {
        const version = await untilCurrent()
        assert.deepEqual(
          version?.resources?.map(({ resource }) => resource),
          ['__proto__', 'constructor', 'half', 'toString'],
        )
      },
    )
    assert.equal(({} as { readonly kind?: unknown }).kind, undefined)
    expectStatus(await running.client.get('/api/v1/namespaces/default'), 200)
  })
})
