// Feature gates: the effect of gates that are off, and warnings about gates without effect.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { type Embedded, startEmbedded } from '../../../test/kit/embedded.js'
import { expectStatus } from '../../../test/kit/fixtures.js'
import { repoRoot } from '../../../test/kit/paths.js'
import { gatesWithEffect } from '../../api/src/api/feature-gates/feature-gate-table.js'
import { featureGates } from '../../api/src/api/feature-gates/feature-gates.js'
import { parseFlags } from '../src/options/flags/parse-flags.js'
import { readSettings } from '../src/options/read-settings.js'

test('every feature gate is read by the server, or warned about', () => {
  const texts = ['api', 'server'].flatMap((name) => {
    const folder = join(repoRoot, 'packages', name, 'src')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return files
      .filter((file) => file.endsWith('.ts') && !/\.(?:test|fixture)\.ts$|feature-gate-table/.test(file))
      .map((file) => readFileSync(join(folder, file), 'utf8'))
  })
  const sources = texts.join('\n')
  const settable = [...featureGates.values()].filter(({ isLocked }) => !isLocked).map(({ name }) => name)
  assert.deepEqual(
    settable.filter((name) => sources.includes(`'${name}'`)).sort(),
    settable.filter((name) => gatesWithEffect.has(name)).sort(),
  )
})

describe('feature gates that are off', () => {
  const off = ['APIListChunking', 'ServerSideFieldValidation', 'OpenAPIV3', 'APIResponseCompression', 'APIPriorityAndFairness']
  let running: Embedded
  before(async () => {
    const gates = [...off.map((name) => `${name}=false`), 'KMSv2=true'].join(',')
    running = await startEmbedded('memory', [`--feature-gates=${gates}`])
  })
  after(() => running.close())
  const configMaps = '/api/v1/namespaces/default/configmaps'

  test('APIListChunking: limit and continue are ignored', async () => {
    const namespaces = async (query: string) => expectStatus(await running.client.get(`/api/v1/namespaces${query}`), 200).json
    const all = await namespaces('')
    assert.ok(all.items.length > 1)
    for (const query of ['?limit=1', '?continue=nonsense']) {
      const { items, metadata } = await namespaces(query)
      assert.deepEqual([items.length, metadata.continue], [all.items.length, undefined], query)
    }
  })

  test('ServerSideFieldValidation: fieldValidation is ignored', async () => {
    const response = await running.client.post(`${configMaps}?fieldValidation=Strict`, { metadata: { name: 'lax' }, bogus: 1 })
    assert.equal(expectStatus(response, 201).headers['warning'], undefined)
    const patched = await running.client.patch(`${configMaps}/lax`, 'application/merge-patch+json', { bogus: 1 })
    assert.equal(expectStatus(patched, 200).headers['warning'], undefined)
  })

  test('OpenAPIV3: the documents are not served or listed', async () => {
    expectStatus(await running.client.get('/openapi/v3'), 404)
    expectStatus(await running.client.get('/openapi/v2'), 200)
    const { paths } = expectStatus(await running.client.get('/'), 200).json as unknown as { readonly paths: readonly string[] }
    assert.deepEqual(
      paths.filter((path) => path.startsWith('/openapi')),
      ['/openapi/v2'],
    )
  })

  test('APIResponseCompression: large responses are not compressed', async () => {
    const data = { text: 'x'.repeat(300_000) }
    expectStatus(await running.client.post(configMaps, { metadata: { name: 'large' }, data }), 201)
    const { headers } = expectStatus(await running.client.get(`${configMaps}/large`, { 'accept-encoding': 'gzip' }), 200)
    assert.equal(headers['content-encoding'], undefined)
  })

  test('APIPriorityAndFairness: responses name no flow schema', async () => {
    const { headers } = expectStatus(await running.client.get('/api/v1/namespaces'), 200)
    assert.equal(headers['x-cluster-pf-flowschema-uid'], undefined)
  })
})

test('a feature gate without effect is a warning at the start', async () => {
  const { warnings } = await readSettings(parseFlags(['--feature-gates=KMSv2=true,OpenAPIV3=false']))
  assert.deepEqual(warnings, ['--feature-gates: KMSv2=true has no effect on this server'])
})
