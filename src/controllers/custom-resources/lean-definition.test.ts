// A large definition without its schemas is the same but for these, and is read once for everybody.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../../api/catalog.js'
import type { ApiObject } from '../../api/object.js'
import { systemClock } from '../../base/clock.js'
import { StoredObject } from '../../objects/stored-object.js'
import { stageOf } from '../engine.fixture.js'
import { definitionsResource } from './custom-kinds.js'
import { leanDefinition } from './lean-definition.js'

const labels = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`label-${i}`, 'x']))
const properties = Object.fromEntries(
  Array.from({ length: 5000 }, (_, i) => [`field-${i}`, { type: 'string', description: ']},"status":{' }]),
)
const schema = { openAPIV3Schema: { type: 'object', properties: { ...properties, status: { type: 'object' }, spec: { type: 'object' } } } }
const fieldsV1 = { 'f:spec': { 'f:]},"spec":{': {} } }

for (const [what, hung, versions] of [
  ['large schemas', {}, [{ schema }, { schema, additionalPrinterColumns: [{ name: 'schema', type: 'string', jsonPath: '.a' }] }]],
  ['many labels', { labels, managedFields: [{ manager: 'a', fieldsV1 }] }, [{ schema: { openAPIV3Schema: { type: 'object' } } }]],
  ['a default of null', { labels }, [{ schema: { openAPIV3Schema: { type: 'object', default: null } } }]],
] as const)
  test(`a definition with ${what}`, async () => {
    const { engine, catalogs } = await stageOf('cluster', systemClock)
    const resource = definitionsResource(catalogs) as Resource
    const stored = {
      metadata: { name: 'a.example.com', uid: 'u', generation: 2, creationTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'], ...hung },
      spec: {
        group: 'example.com',
        names: { plural: 'a', kind: 'A' },
        scope: 'Namespaced',
        versions: versions.map((version, i) => ({ name: `v${i}`, served: true, storage: i === 0, ...version })),
        conversion: { strategy: 'None' },
      },
      status: {
        conditions: [{ type: 'Established', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z', reason: '', message: '' }],
        acceptedNames: { plural: 'a', kind: 'A' },
        storedVersions: ['v0'],
      },
    }
    const entry = { key: 'a', revision: 7, value: engine.store.encode(resource, stored as unknown as ApiObject) }
    const { metadata, spec, ...rest } = new StoredObject(entry).decode(resource) as never as typeof stored
    const { labels: _, managedFields: __, ...known } = metadata as ApiObject['metadata'] & object
    const lean = leanDefinition(engine.store, new StoredObject(entry), resource)
    const expected = { ...spec, versions: spec.versions.map(({ schema: _, ...others }) => others) }
    assert.deepEqual(lean, { metadata: known, spec: expected, ...rest })
    assert.equal(leanDefinition(engine.store, new StoredObject(entry), resource), lean)
    assert.notEqual(leanDefinition(engine.store, new StoredObject({ ...entry, revision: 8 }), resource), lean)
  })
