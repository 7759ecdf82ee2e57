// Tests of --runtime-config: which versions and resources are served.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRuntimeConfig, type Served, stabilityOf } from './runtime-config.js'

const apps: Served = { group: 'apps', version: 'v1', resource: 'deployments', stability: 'stable' }
const core: Served = { group: '', version: 'v1', resource: 'pods', stability: 'stable' }
const claims: Served = { group: 'resource.example', version: 'v1alpha1', resource: 'claims', stability: 'alpha' }
const oldBeta: Served = { group: 'storage.example', version: 'v1beta1', resource: 'capacities', stability: 'beta', enabledByDefault: true }
const newBeta: Served = { ...oldBeta, enabledByDefault: false }

for (const row of [
  { name: 'stable versions are served by default', texts: [], served: apps, isOn: true },
  { name: 'alpha versions are not served by default', texts: [], served: claims, isOn: false },
  { name: 'beta versions with enabledByDefault are served', texts: [], served: oldBeta, isOn: true },
  { name: 'beta versions without enabledByDefault are not served', texts: [], served: newBeta, isOn: false },
  { name: 'api/all=true serves alpha versions', texts: ['api/all=true'], served: claims, isOn: true },
  { name: 'a key without a value means true', texts: ['api/all'], served: claims, isOn: true },
  { name: 'api/all=false disables stable versions', texts: ['api/all=false', 'api/beta=true'], served: apps, isOn: false },
  { name: 'api/beta=true overrides api/all=false', texts: ['api/all=false', 'api/beta=true'], served: newBeta, isOn: true },
  { name: 'api/beta=false disables beta versions', texts: ['api/beta=false'], served: oldBeta, isOn: false },
  { name: 'api/ga=false disables stable versions', texts: ['api/ga=false'], served: apps, isOn: false },
  { name: 'api/legacy is ignored', texts: ['api/legacy=false'], served: apps, isOn: true },
  { name: 'a version key overrides a stability key', texts: ['api/alpha=false', 'resource.example/v1alpha1'], served: claims, isOn: true },
  { name: 'apps/v1=false disables the version', texts: ['apps/v1=false'], served: apps, isOn: false },
  { name: 'v1=false disables the core group', texts: ['v1=false'], served: core, isOn: false },
  { name: 'api/v1=false disables the core group', texts: ['api/v1=false'], served: core, isOn: false },
  { name: 'apps/v1/deployments=false disables the resource', texts: ['apps/v1/deployments=false'], served: apps, isOn: false },
  {
    name: 'apps/v1/deployments=false leaves other resources enabled',
    texts: ['apps/v1/deployments=false'],
    served: { ...apps, resource: 'daemonsets' },
    isOn: true,
  },
  { name: 'v1/pods=false disables a resource of the core group', texts: ['v1/pods=false'], served: core, isOn: false },
  { name: 'a resource key overrides its version key', texts: ['apps/v1=false', 'apps/v1/deployments=true'], served: apps, isOn: true },
  { name: 'key order has no effect', texts: ['apps/v1/deployments=true', 'apps/v1=false', 'api/all=false'], served: apps, isOn: true },
  {
    name: 'disabling a resource keeps its version enabled',
    texts: ['apps/v1/deployments=false'],
    served: { ...apps, resource: undefined },
    isOn: true,
  },
]) {
  test(`runtime config: ${row.name}`, () => assert.equal(parseRuntimeConfig(row.texts).isEnabled(row.served as Served), row.isOn))
}

for (const row of [
  { name: 'a group without a version', text: 'apps', problem: /^"apps" is neither api\/all/ },
  { name: 'an empty key', text: '', problem: /^"" is neither/ },
  { name: 'a key with four segments', text: 'apps/v1/deployments/status', problem: /is neither/ },
  { name: 'an empty segment', text: 'apps//deployments', problem: /is neither/ },
  { name: 'a value that is not a boolean', text: 'apps/v1=perhaps', problem: /^apps\/v1=perhaps: "perhaps" is neither true nor false$/ },
  { name: 'an unknown api/ key', text: 'api/gamma', problem: /^"api\/gamma" is unknown; there are api\/all, api\/ga/ },
  { name: 'settings that disable all versions', text: 'api/all=false', problem: /leave nothing to serve/ },
]) {
  test(`runtime config rejects: ${row.name}`, () => assert.throws(() => parseRuntimeConfig([row.text]), { message: row.problem }))
}

test('unknownKeys lists keys that match no resource', () => {
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

test('stability follows from the version name', () =>
  assert.deepEqual(['v1', 'v2beta1', 'v1alpha1'].map(stabilityOf), ['stable', 'beta', 'alpha']))
