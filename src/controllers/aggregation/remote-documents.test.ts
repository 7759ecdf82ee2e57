// What others serve and what they say of their types are heard independently, and what may be wrong is marked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiServiceSource, ApiServices, type RemoteVersion } from '../../api/api-services.js'
import { silentLogger } from '../../base/logger.js'
import type { ExtensionAsker } from './ask-extension.js'
import { RemoteDocuments } from './remote-documents.js'
import { AggregationTallies } from './tallies.js'

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

class Stage {
  /** How each path is answered; undefined: with an error. */
  readonly answers = new Map<string, string>()
  readonly asked = new Map<string, number>()
  private readonly services = new ApiServiceSource()
  readonly documents: RemoteDocuments

  constructor(answers: { readonly [path: string]: string }) {
    this.services.replace(servicesWith(true))
    for (const [path, body] of Object.entries(answers)) this.answers.set(path, body)
    const ask: ExtensionAsker['ask'] = async (_target, { path }) => {
      this.asked.set(path, this.times(path) + 1)
      const body = this.answers.get(path)
      return { status: body === undefined ? 500 : 200, contentType: 'application/json', body: Buffer.from(body ?? ''), tag: '' }
    }
    this.documents = new RemoteDocuments({
      services: this.services,
      asker: { ask } as ExtensionAsker,
      tallies: new AggregationTallies(),
      logger: silentLogger,
      againMs: 5,
    })
  }

  times(path: string): number {
    return this.asked.get(path) ?? 0
  }

  change(isAvailable: boolean): void {
    this.services.replace(servicesWith(isAvailable))
  }

  get heard() {
    return this.documents.discovery.of(version)
  }
}

async function until(isSo: () => boolean): Promise<void> {
  const end = Date.now() + 60_000
  while (!isSo()) {
    assert.ok(Date.now() < end, 'waited in vain')
    await sleep(2)
  }
}

const discovery = '/apis/g.example/v1'

test('a server without a good document of its types is asked what it serves as often as any other', async () => {
  const stage = new Stage({ [discovery]: list })
  // The documents are tried again after one second, and then after longer.
  await until(() => stage.times(discovery) >= 20)
  assert.ok(stage.times('/openapi/v2') < 10, `${stage.times('/openapi/v2')} questions`)
  assert.equal(stage.heard.freshness, 'Current')
  await stage.documents.close()
})

test('what a server served is stale when it does not say so again, and current when it does', async () => {
  const stage = new Stage({ [discovery]: list, '/openapi/v2': '{"paths":{},"definitions":{}}', '/openapi/v3': '{}' })
  await until(() => stage.heard.freshness === 'Current')
  stage.answers.delete(discovery)
  await until(() => stage.heard.freshness === 'Stale')
  assert.deepEqual(
    stage.heard.resources.map(({ resource }) => resource),
    ['gadgets'],
  )
  stage.answers.set(discovery, list)
  await until(() => stage.heard.freshness === 'Current')
  await stage.documents.close()
})

test('what an unavailable server served is stale', async () => {
  const stage = new Stage({ [discovery]: list, '/openapi/v2': '{"paths":{},"definitions":{}}', '/openapi/v3': '{}' })
  let changes = 0
  stage.documents.onChange(() => changes++)
  await until(() => stage.heard.freshness === 'Current')
  stage.change(false)
  assert.equal(stage.heard.freshness, 'Stale')
  assert.equal(stage.heard.resources.length, 1)
  const told = changes
  stage.change(false)
  assert.equal(changes, told)
  stage.change(true)
  await until(() => stage.heard.freshness === 'Current')
  await stage.documents.close()
})
