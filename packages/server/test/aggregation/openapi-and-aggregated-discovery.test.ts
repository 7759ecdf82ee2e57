// OpenAPI v2 and v3 and aggregated discovery include extension API servers.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { type Embedded, startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { ExtensionServer, register } from './extension-server.js'

const group = 'gadgets.example'
const path = `/apis/${group}/v1/namespaces/{namespace}/gadgets/{name}`

interface Document {
  readonly paths: { readonly [path: string]: { readonly get?: { readonly responses: unknown }; readonly serverRelativeURL?: string } }
  readonly definitions: { readonly [name: string]: { readonly description?: string; readonly properties?: object } }
  readonly items: readonly { readonly metadata: { readonly name?: string }; readonly versions: readonly object[] }[]
}

const read = async (client: ApiClient, address: string): Promise<Document> =>
  expectStatus(await client.get(address), 200).json as unknown as Document

describe('documents of extension API servers', () => {
  let running: Embedded
  let client: ApiClient
  let extension: ExtensionServer
  let service: string
  before(async () => {
    running = await startEmbedded('memory', ['--feature-gates=AggregatedDiscoveryEndpoint=true'])
    client = running.client
    extension = await ExtensionServer.start(group)
    service = await register(client, { server: extension })
  })
  after(async () => {
    await running.close()
    extension.close()
  })

  test('OpenAPI v2 has the paths of the version and the definitions they use', async () => {
    const document = await until(
      () => read(client, '/openapi/v2'),
      ({ paths }) => paths[path] !== undefined,
    )
    assert.ok(document.paths['/api/v1/namespaces/{namespace}/configmaps/{name}'])
    assert.equal(document.paths['/apis/another.group.example/v1/things'], undefined)
    assert.equal(document.definitions['com.example.gadgets.v1.Gadget']?.description, 'A gadget of an extension API server.')
    assert.equal(document.definitions['com.example.Unused'], undefined)
    const request = extension.seenAt('/openapi/v2').at(-1)
    assert.equal(request?.headers['x-remote-user'], 'system:cluster-aggregator')
    const binary = await client.get('/openapi/v2', { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' })
    assert.ok(expectStatus(binary, 200).bytes.includes('A gadget of an extension API server.'))
  })

  test('OpenAPI v3 lists the remote document and proxies it', async () => {
    const index = await read(client, '/openapi/v3')
    const address = index.paths[`apis/${group}/v1`]?.serverRelativeURL ?? ''
    assert.equal(address, `/openapi/v3/apis/${group}/v1?hash=AB`)
    assert.deepEqual(await read(client, address), extension.openApiV3())
  })

  test('aggregated discovery lists its resources', async () => {
    const accept = 'application/json;g=apidiscovery.cluster.io;v=v2beta1;as=APIGroupDiscoveryList'
    const { items } = expectStatus(await client.get('/apis', { accept }), 200).json as unknown as Document
    assert.deepEqual(items.find(({ metadata }) => metadata.name === group)?.versions, [
      {
        version: 'v1',
        resources: [
          {
            resource: 'gadgets',
            responseKind: { group, version: 'v1', kind: 'Gadget' },
            scope: 'Namespaced',
            singularResource: 'gadget',
            verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
            shortNames: ['gd'],
            categories: ['all'],
            subresources: [
              { subresource: 'status', responseKind: { group, version: 'v1', kind: 'Gadget' }, verbs: ['get', 'patch', 'update'] },
            ],
          },
        ],
        freshness: 'Current',
      },
    ])
  })

  test('a server without OpenAPI v3 is converted from v2', async () => {
    const old = await ExtensionServer.start('old.example')
    old.behaviour = ({ url }, response) => {
      if (!url?.startsWith('/openapi/v3')) return undefined
      response.writeHead(404).end()
      return true
    }
    const added = await register(client, { server: old })
    const { paths } = await until(
      () => read(client, '/openapi/v3'),
      (index) => index.paths['apis/old.example/v1'] !== undefined,
    )
    const address = paths['apis/old.example/v1']?.serverRelativeURL ?? ''
    const document = (await read(client, address)) as unknown as { openapi: string; paths: Document['paths']; components: object }
    assert.equal(document.openapi, '3.0.0')
    assert.deepEqual(document.paths['/apis/old.example/v1/namespaces/{namespace}/gadgets/{name}']?.get?.responses, {
      200: { description: 'OK', content: { 'application/json': { schema: { $ref: '#/components/schemas/com.example.old.v1.Gadget' } } } },
    })
    await client.delete(added)
    old.close()
  })

  test('a deleted APIService is removed from the documents', async () => {
    await client.delete(service)
    await until(
      () => read(client, '/openapi/v2'),
      ({ paths }) => paths[path] === undefined,
    )
    assert.equal((await read(client, '/openapi/v3')).paths[`apis/${group}/v1`], undefined)
  })
})
