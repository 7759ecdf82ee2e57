// Which versions and resources are served, by what the operator said.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRuntimeConfig, type Served, stabilityOf } from './runtime-config.js'

const apps: Served = { group: 'apps', version: 'v1', resource: 'deployments', stability: 'stable' }
const core: Served = { group: '', version: 'v1', resource: 'pods', stability: 'stable' }
const claims: Served = { group: 'resource.example', version: 'v1alpha1', resource: 'claims', stability: 'alpha' }
const oldBeta: Served = { group: 'storage.example', version: 'v1beta1', resource: 'capacities', stability: 'beta', enabledByDefault: true }
const newBeta: Served = { ...oldBeta, enabledByDefault: false }

for (const row of [
  { name: 'stable by default', texts: [], served: apps, isOn: true },
  { name: 'alpha not by default', texts: [], served: claims, isOn: false },
  { name: 'beta from before by default', texts: [], served: oldBeta, isOn: true },
  { name: 'new beta not by default', texts: [], served: newBeta, isOn: false },
  { name: 'everything', texts: ['api/all=true'], served: claims, isOn: true },
  { name: 'a missing value is true', texts: ['api/all'], served: claims, isOn: true },
  { name: 'nothing but beta: stable', texts: ['api/all=false', 'api/beta=true'], served: apps, isOn: false },
  { name: 'nothing but beta: beta', texts: ['api/all=false', 'api/beta=true'], served: newBeta, isOn: true },
  { name: 'no beta', texts: ['api/beta=false'], served: oldBeta, isOn: false },
  { name: 'no stable', texts: ['api/ga=false'], served: apps, isOn: false },
  { name: 'the word for what is gone says nothing', texts: ['api/legacy=false'], served: apps, isOn: true },
  { name: 'one version beats its stability', texts: ['api/alpha=false', 'resource.example/v1alpha1'], served: claims, isOn: true },
  { name: 'one version off', texts: ['apps/v1=false'], served: apps, isOn: false },
  { name: 'the core group off', texts: ['v1=false'], served: core, isOn: false },
  { name: 'the core group, written with its path', texts: ['api/v1=false'], served: core, isOn: false },
  { name: 'one resource off', texts: ['apps/v1/deployments=false'], served: apps, isOn: false },
  {
    name: 'one resource off leaves its neighbours',
    texts: ['apps/v1/deployments=false'],
    served: { ...apps, resource: 'daemonsets' },
    isOn: true,
  },
  { name: 'one resource of the core group off', texts: ['v1/pods=false'], served: core, isOn: false },
  { name: 'one resource beats its version', texts: ['apps/v1=false', 'apps/v1/deployments=true'], served: apps, isOn: true },
  { name: 'order does not matter', texts: ['apps/v1/deployments=true', 'apps/v1=false', 'api/all=false'], served: apps, isOn: true },
  { name: 'a version without a resource', texts: ['apps/v1/deployments=false'], served: { ...apps, resource: undefined }, isOn: true },
]) {
  test(`runtime config: ${row.name}`, () => assert.equal(parseRuntimeConfig(row.texts).isEnabled(row.served as Served), row.isOn))
}

for (const row of [
  { name: 'not a key', text: 'apps', problem: /^"apps" is neither api\/all/ },
  { name: 'empty', text: '', problem: /^"" is neither/ },
  { name: 'too deep', text: 'apps/v1/deployments/status', problem: /is neither/ },
  { name: 'an empty part', text: 'apps//deployments', problem: /is neither/ },
  { name: 'not a boolean', text: 'apps/v1=perhaps', problem: /^apps\/v1=perhaps: "perhaps" is neither true nor false$/ },
  { name: 'an unknown wide key', text: 'api/gamma', problem: /^"api\/gamma" is unknown; there are api\/all, api\/ga/ },
  { name: 'nothing left', text: 'api/all=false', problem: /leave nothing to serve/ },
]) {
  test(`runtime config refused: ${row.name}`, () => assert.throws(() => parseRuntimeConfig([row.text]), { message: row.problem }))
}

test('keys that name nothing are found', () => {
  const config = parseRuntimeConfig([
    'api/all=true',
    'apps/v1',
    'apps/v1/deployments',
    'v1',
    'apps/v2',
    'none/v1=false',
    'apps/v1/none',
    'v1/pods',
  ])
  const existing = [apps, core].map(({ group, version, resource = '' }) => ({ group, version, resource }))
  assert.deepEqual(config.unknownKeys(existing), ['apps/v2', 'none/v1', 'apps/v1/none'])
})

test('stability by name', () => assert.deepEqual(['v1', 'v2beta1', 'v1alpha1'].map(stabilityOf), ['stable', 'beta', 'alpha']))
