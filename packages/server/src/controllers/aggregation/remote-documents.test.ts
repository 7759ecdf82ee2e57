// Polling of remote discovery and OpenAPI: independent of each other, stale after failures.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiServiceSource, ApiServices, type RemoteVersion } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { silentLogger } from '@cluster-apiserver/api/base/logger.js'
import { AggregationCounters } from './aggregation-metrics.js'
import type { ExtensionClient } from './extension-client.js'
import { RemoteDocuments } from './remote-documents.js'

const remote = { service: { namespace: 'default', name: 's', port: 443 }, ca: '', isInsecure: true }
const version: RemoteVersion = {
  name: 'v1.g.example',
  group: 'g.example',
  version: 'v1',
  groupPriority: 1,
  versionPriority: 1,
  isAvailable: true,
  remote,
}
const list = JSON.stringify({
  kind: 'APIResourceList',
  resources: [{ name: 'gadgets', kind: 'Gadget', namespaced: true, verbs: ['list'] }],
})

const servicesWith = (isAvailable: boolean): ApiServices => new ApiServices(new Map([[version.name, { ...version, isAvailable }]]))

class Fixture {
  readonly bodies = new Map<string, string>()
  readonly requests = new Map<string, number>()
  private readonly services = new ApiServiceSource()
  readonly documents: RemoteDocuments

  constructor(bodies: { readonly [path: string]: string }) {
    this.services.replace(servicesWith(true))
    for (const [path, body] of Object.entries(bodies)) this.bodies.set(path, body)
    const request: ExtensionClient['request'] = async (_target, { path }) => {
      this.requests.set(path, this.requestCount(path) + 1)
      const body = this.bodies.get(path)
      return { status: body === undefined ? 500 : 200, contentType: 'application/json', body: Buffer.from(body ?? ''), tag: '' }
    }
    this.documents = new RemoteDocuments({
      services: this.services,
      extensionClient: { request } as ExtensionClient,
      counters: new AggregationCounters(),
      logger: silentLogger,
      pollMs: 5,
    })
  }

  requestCount(path: string): number {
    return this.requests.get(path) ?? 0
  }

  change(isAvailable: boolean): void {
    this.services.replace(servicesWith(isAvailable))
  }

  get discovered() {
    return this.documents.discovery.of(version)
  }
}

async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 60_000
  while (!condition()) {
    assert.ok(Date.now() < end, 'the condition was not met within 60 s')
    await sleep(2)
  }
}

const discovery = '/apis/g.example/v1'

test('a server without OpenAPI is polled for discovery as often as any other', async () => {
  const fixture = new Fixture({ [discovery]: list })
  // OpenAPI is retried with a back-off from 1 s.
  await until(() => fixture.requestCount(discovery) >= 20)
  assert.ok(fixture.requestCount('/openapi/v2') < 10, `${fixture.requestCount('/openapi/v2')} requests`)
  assert.equal(fixture.discovered.freshness, 'Current')
  await fixture.documents.close()
})

test('discovery is stale after a failed poll, and current after the next success', async () => {
  const fixture = new Fixture({ [discovery]: list, '/openapi/v2': '{"paths":{},"definitions":{}}', '/openapi/v3': '{}' })
  await until(() => fixture.discovered.freshness === 'Current')
  fixture.bodies.delete(discovery)
  await until(() => fixture.discovered.freshness === 'Stale')
  assert.deepEqual(
    fixture.discovered.resources.map(({ resource }) => resource),
    ['gadgets'],
  )
  fixture.bodies.set(discovery, list)
  await until(() => fixture.discovered.freshness === 'Current')
  await fixture.documents.close()
})

test('discovery of an unavailable server is stale', async () => {
  const fixture = new Fixture({ [discovery]: list, '/openapi/v2': '{"paths":{},"definitions":{}}', '/openapi/v3': '{}' })
  let changes = 0
  fixture.documents.onChange(() => changes++)
  await until(() => fixture.discovered.freshness === 'Current')
  fixture.change(false)
  assert.equal(fixture.discovered.freshness, 'Stale')
  assert.equal(fixture.discovered.resources.length, 1)
  const before = changes
  fixture.change(false)
  assert.equal(changes, before)
  fixture.change(true)
  await until(() => fixture.discovered.freshness === 'Current')
  await fixture.documents.close()
})
