// Feature gates: defaults, switches for one or a whole stage, and what is refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultFeatureGates, featureGates, parseFeatureGates } from './feature-gates.js'

for (const row of [
  { name: 'stable is on', settings: [], gate: 'ServerSideApply', isOn: true },
  { name: 'beta is on', settings: [], gate: 'OpenAPIV3', isOn: true },
  { name: 'beta that starts off', settings: [], gate: 'MinDomainsInPodTopologySpread', isOn: false },
  { name: 'alpha is off', settings: [], gate: 'DynamicResourceAllocation', isOn: false },
  { name: 'a gate that does not exist is off', settings: [], gate: 'Nonsense', isOn: false },
  { name: 'switched on', settings: ['DynamicResourceAllocation=true'], gate: 'DynamicResourceAllocation', isOn: true },
  { name: 'switched off', settings: ['OpenAPIV3=f'], gate: 'OpenAPIV3', isOn: false },
  { name: 'the last word counts', settings: ['OpenAPIV3=false', 'OpenAPIV3=true'], gate: 'OpenAPIV3', isOn: true },
  { name: 'all alpha', settings: ['AllAlpha=true'], gate: 'KMSv2', isOn: true },
  { name: 'all alpha but one', settings: ['KMSv2=false', 'AllAlpha=true'], gate: 'KMSv2', isOn: false },
  { name: 'all alpha leaves beta', settings: ['AllAlpha=true'], gate: 'MinDomainsInPodTopologySpread', isOn: false },
  { name: 'no beta', settings: ['AllBeta=false'], gate: 'APIListChunking', isOn: false },
  { name: 'no beta leaves stable', settings: ['AllBeta=false'], gate: 'ServerSideApply', isOn: true },
  { name: 'locked to what it is', settings: ['ServerSideApply=true'], gate: 'ServerSideApply', isOn: true },
]) {
  test(`feature gates: ${row.name}`, () => assert.equal(parseFeatureGates(row.settings)(row.gate), row.isOn))
}

for (const row of [
  { name: 'unknown', setting: 'Nonsense=true', problem: 'unrecognized feature gate: Nonsense' },
  { name: 'unknown without a value', setting: 'Nonsense', problem: 'unrecognized feature gate: Nonsense' },
  {
    name: 'locked',
    setting: 'ServerSideApply=false',
    problem: 'cannot set feature gate ServerSideApply to false, feature is locked to true',
  },
  { name: 'not a boolean', setting: 'OpenAPIV3=maybe', problem: 'OpenAPIV3=maybe: "maybe" is neither true nor false' },
  { name: 'no value', setting: 'OpenAPIV3', problem: 'missing bool value for OpenAPIV3: write OpenAPIV3=true or OpenAPIV3=false' },
  { name: 'no name', setting: '=true', problem: '"=true" names no feature gate' },
]) {
  test(`feature gates refused: ${row.name}`, () => assert.throws(() => parseFeatureGates([row.setting]), { message: row.problem }))
}

test('every gate is in one list only', () => {
  assert.ok(featureGates.size > 100)
  assert.equal(defaultFeatureGates('ValidatingAdmissionPolicy'), false)
})
