// Aggregated discovery: content negotiation, content and headers.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { noApiServices } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { noRemoteDiscovery } from '@cluster-apiserver/api/api/catalog/remote-discovery.js'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import { apiGroupDiscovery } from '@cluster-apiserver/api/resources/apidiscovery/v2beta1.schema.js'
import { MemoryPressure } from '../../flow-control/memory-pressure.js'
import { sampleCatalog } from '../../openapi/sample-kinds.fixture.js'
import { requestListener } from '../pipeline/request-listener.js'
import { aggregatedDiscovery, aggregatedFormat, discoveredGroup, groupsBelow, serveAggregated } from './aggregated-discovery.js'

const cluster = identityOf('cluster')
const parameters = 'g=apidiscovery.cluster.io;v=v2beta1;as=APIGroupDiscoveryList'

describe('the Accept header selects aggregated discovery', () => {
  const rows: readonly (readonly [name: string, accept: string, expected: string | undefined])[] = [
    ['JSON', `application/json;${parameters}`, 'json'],
    ['Protobuf', `application/vnd.cluster.protobuf;${parameters}`, 'protobuf'],
    ['YAML', `application/yaml;${parameters}`, 'yaml'],
    ['with unaggregated JSON as second choice', `application/json;${parameters},application/json`, 'json'],
    [
      'as second choice after an unknown version',
      `application/json;${parameters.replace('v2beta1', 'v2')},application/json;${parameters}`,
      'json',
    ],
    ['not as second choice after unaggregated JSON', `application/json, application/json;q=0.5;${parameters}`, undefined],
    ['not without an Accept header', '', undefined],
    ['not for */*', '*/*', undefined],
    ['not for the group of another identity', `application/json;${parameters.replace('cluster', 'k8s')}`, undefined],
    ['not for another kind', 'application/json;g=meta.cluster.io;v=v1;as=Table', undefined],
    ['not in an unknown format', `text/html;${parameters}`, undefined],
  ]
  for (const [name, accept, expected] of rows) test(name, () => assert.equal(aggregatedFormat(accept, cluster), expected))
})

describe('the document', () => {
  const catalog = sampleCatalog()

  test('/api lists the core group', () => {
    assert.deepEqual(
      groupsBelow({ catalog, services: noApiServices }, 'api').map((group) => discoveredGroup(group, noRemoteDiscovery)),
      [
        {
          metadata: {},
          versions: [
            {
              version: 'v1',
              resources: [
                {
                  resource: 'boxes',
                  responseKind: { group: '', version: 'v1', kind: 'Box' },
                  scope: 'Cluster',
                  singularResource: '',
                  verbs: ['create', 'delete', 'get', 'list', 'watch'],
                },
              ],
              freshness: 'Current',
            },
          ],
        },
      ],
    )
  })

  test('/apis lists the other groups in the order of the catalog, with subresources', () => {
    const groups = groupsBelow({ catalog, services: noApiServices }, 'apis').map((group) => discoveredGroup(group, noRemoteDiscovery))
    assert.deepEqual(
      groups.map(({ metadata }) => metadata.name),
      ['small.things.cluster.io', 'apiregistration.cluster.io', 'shop.example.com'],
    )
    const thing = groups[0]?.versions[0]?.resources[0]
    assert.deepEqual(
      thing?.subresources?.map(({ subresource, responseKind: { group, version, kind } }) => `${subresource} ${group}/${version} ${kind}`),
      [
        'log small.things.cluster.io/v1 Thing',
        'opening doors.cluster.io/v2 Opening',
        'proxy small.things.cluster.io/v1 ThingProxyOptions',
        'scale autoscaling/v1 Scale',
        'status small.things.cluster.io/v1 Thing',
        'talk small.things.cluster.io/v1 ThingTalkOptions',
      ],
    )
    assert.deepEqual([thing?.shortNames, thing?.categories, thing?.scope], [['th'], ['all'], 'Namespaced'])
  })
})

test('it is sent with its media type and an ETag', async () => {
  const discovery = aggregatedDiscovery(apiGroupDiscovery)
  const server = createServer(
    requestListener({
      filters: [
        async (exchange) => {
          const root = exchange.info.path === '/api' ? 'api' : 'apis'
          if (!serveAggregated(discovery, exchange, { root, services: noApiServices })) exchange.response.writeHead(418).end()
          return true
        },
      ],
      catalogs: new CatalogSource(sampleCatalog()),
      clock: { now: () => 0 },
      pressure: new MemoryPressure({ bodyBytes: 1 << 20, responseBytes: 1 << 20, responseMs: 1000 }),
      requestTimeoutMs: 10_000,
      hooks: [],
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const accept = `application/json;${parameters}`
    const response = await fetch(`${url}/api`, { headers: { accept } })
    const tag = response.headers.get('etag') ?? ''
    assert.equal(response.headers.get('content-type'), accept)
    assert.equal(response.headers.get('vary'), 'Accept')
    const body = (await response.json()) as { readonly kind: string; readonly apiVersion: string; readonly items: readonly unknown[] }
    assert.deepEqual([body.kind, body.apiVersion, body.items.length], ['APIGroupDiscoveryList', 'apidiscovery.cluster.io/v2beta1', 1])
    assert.equal((await fetch(`${url}/api`, { headers: { accept, 'if-none-match': tag } })).status, 304)
    assert.equal((await fetch(`${url}/apis`, { headers: { accept: 'application/json' } })).status, 418)
    const binary = await fetch(`${url}/apis`, { headers: { accept: `application/vnd.cluster.protobuf;${parameters}` } })
    assert.equal(binary.headers.get('content-type'), `application/vnd.cluster.protobuf;${parameters}`)
    assert.equal(
      Buffer.from(await binary.arrayBuffer())
        .subarray(0, 4)
        .toString('hex'),
      '6b387300',
    )
    const yaml = await fetch(`${url}/api`, { headers: { accept: `application/yaml;${parameters}` } })
    assert.match(await yaml.text(), /^apiVersion: apidiscovery\.cluster\.io\/v2beta1\nitems:\n/)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
