// Who gets all of discovery in one document, and what it says.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { noApiServices } from '../api/api-services.js'
import { CatalogSource } from '../api/catalog-source.js'
import { nothingDiscovered } from '../api/discovered.js'
import { identityOf } from '../api/identity.js'
import { apiGroupDiscovery } from '../resources/apidiscovery/v2beta1.schema.js'
import { aggregatedDiscovery, aggregatedFormat, discoveredGroup, groupsBelow, serveAggregated } from './aggregated-discovery.js'
import { requestListener } from './handle.js'
import { thingsCatalog } from './openapi/things.fixture.js'
import { Pressure } from './pressure.js'

const cluster = identityOf('cluster')
const parameters = 'g=apidiscovery.cluster.io;v=v2beta1;as=APIGroupDiscoveryList'

describe('who gets it', () => {
  const rows: readonly (readonly [name: string, accept: string, expected: string | undefined])[] = [
    ['who asks for it', `application/json;${parameters}`, 'json'],
    ['who asks for it in Protobuf', `application/vnd.cluster.protobuf;${parameters}`, 'protobuf'],
    ['who asks for it in YAML', `application/yaml;${parameters}`, 'yaml'],
    ['who also takes what is usual', `application/json;${parameters},application/json`, 'json'],
    ['who first asks for a later form', `application/json;${parameters.replace('v2beta1', 'v2')},application/json;${parameters}`, 'json'],
    ['not who likes the usual form better', `application/json, application/json;q=0.5;${parameters}`, undefined],
    ['not who asks for nothing', '', undefined],
    ['not who takes anything', '*/*', undefined],
    ['not who asks for the form of another identity', `application/json;${parameters.replace('cluster', 'k8s')}`, undefined],
    ['not who asks for something else', 'application/json;g=meta.cluster.io;v=v1;as=Table', undefined],
    ['not who asks for it in a format that there is not', `text/html;${parameters}`, undefined],
  ]
  for (const [name, accept, expected] of rows) test(name, () => assert.equal(aggregatedFormat(accept, cluster), expected))
})

describe('what it says', () => {
  const catalog = thingsCatalog()

  test('the core alone', () => {
    assert.deepEqual(
      groupsBelow({ catalog, services: noApiServices }, 'api').map((group) => discoveredGroup(group, nothingDiscovered)),
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

  test('the other groups, in the order of the catalog, with their subresources', () => {
    const groups = groupsBelow({ catalog, services: noApiServices }, 'apis').map((group) => discoveredGroup(group, nothingDiscovered))
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

test('it is sent with its media type and a tag', async () => {
  const discovery = aggregatedDiscovery(apiGroupDiscovery)
  const server = createServer(
    requestListener({
      filters: [
        (exchange) => {
          const root = exchange.info.path === '/api' ? 'api' : 'apis'
          if (!serveAggregated(discovery, exchange, { root, services: noApiServices })) exchange.response.writeHead(418).end()
          return true
        },
      ],
      catalogs: new CatalogSource(thingsCatalog()),
      clock: { now: () => 0 },
      pressure: new Pressure({ bodyBytes: 1 << 20, answerBytes: 1 << 20, answerMs: 1000 }),
      requestTimeoutMs: 10_000,
      hooks: [],
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const accept = `application/json;${parameters}`
    const got = await fetch(`${url}/api`, { headers: { accept } })
    const tag = got.headers.get('etag') ?? ''
    assert.equal(got.headers.get('content-type'), accept)
    assert.equal(got.headers.get('vary'), 'Accept')
    const body = (await got.json()) as { readonly kind: string; readonly apiVersion: string; readonly items: readonly unknown[] }
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
