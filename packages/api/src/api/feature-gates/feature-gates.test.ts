// Tests of --feature-gates: defaults, AllAlpha and AllBeta, rejected values, gates without effect.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gatesByStage } from './feature-gate-table.js'
import { defaultFeatureGates, featureGates, ineffectiveGates, parseFeatureGates } from './feature-gates.js'

for (const row of [
  { name: 'stable gates are on by default', settings: [], gate: 'ServerSideApply', isOn: true },
  { name: 'beta gates are on by default', settings: [], gate: 'OpenAPIV3', isOn: true },
  { name: 'beta gates in betaOff are off by default', settings: [], gate: 'MinDomainsInPodTopologySpread', isOn: false },
  { name: 'alpha gates are off by default', settings: [], gate: 'DynamicResourceAllocation', isOn: false },
  { name: 'an unknown gate is off', settings: [], gate: 'Nonsense', isOn: false },
  { name: 'a setting enables an alpha gate', settings: ['DynamicResourceAllocation=true'], gate: 'DynamicResourceAllocation', isOn: true },
  { name: 'a setting disables a beta gate', settings: ['OpenAPIV3=f'], gate: 'OpenAPIV3', isOn: false },
  { name: 'the last setting of a gate wins', settings: ['OpenAPIV3=false', 'OpenAPIV3=true'], gate: 'OpenAPIV3', isOn: true },
  { name: 'AllAlpha=true enables alpha gates', settings: ['AllAlpha=true'], gate: 'KMSv2', isOn: true },
  { name: 'a named gate overrides AllAlpha', settings: ['KMSv2=false', 'AllAlpha=true'], gate: 'KMSv2', isOn: false },
  { name: 'AllAlpha does not affect beta gates', settings: ['AllAlpha=true'], gate: 'MinDomainsInPodTopologySpread', isOn: false },
  { name: 'AllBeta=false disables beta gates', settings: ['AllBeta=false'], gate: 'APIListChunking', isOn: false },
  { name: 'AllBeta does not affect stable gates', settings: ['AllBeta=false'], gate: 'ServerSideApply', isOn: true },
  { name: 'a locked gate may be set to its default', settings: ['ServerSideApply=true'], gate: 'ServerSideApply', isOn: true },
]) {
  test(`feature gates: ${row.name}`, () => assert.equal(parseFeatureGates(row.settings)(row.gate), row.isOn))
}

for (const row of [
  { name: 'an unknown gate', setting: 'Nonsense=true', problem: 'unrecognized feature gate: Nonsense' },
  { name: 'an unknown gate without a value', setting: 'Nonsense', problem: 'unrecognized feature gate: Nonsense' },
  {
    name: 'a locked gate set to another value',
    setting: 'ServerSideApply=false',
    problem: 'cannot set feature gate ServerSideApply to false, feature is locked to true',
  },
  { name: 'a value that is not a boolean', setting: 'OpenAPIV3=maybe', problem: 'OpenAPIV3=maybe: "maybe" is neither true nor false' },
  { name: 'a missing value', setting: 'OpenAPIV3', problem: 'missing bool value for OpenAPIV3: write OpenAPIV3=true or OpenAPIV3=false' },
  { name: 'a setting without a gate name', setting: '=true', problem: '"=true" names no feature gate' },
]) {
  test(`feature gates reject: ${row.name}`, () => assert.throws(() => parseFeatureGates([row.setting]), { message: row.problem }))
}

test('every gate is in one list only', () => {
  assert.equal(featureGates.size, Object.values(gatesByStage).flat().length)
  assert.equal(defaultFeatureGates('ValidatingAdmissionPolicy'), false)
})

test('ineffectiveGates lists changed gates that this server does not use', () =>
  assert.deepEqual(
    ineffectiveGates(['KMSv2=true', 'KMSv2=false', 'NodeSwap=1', 'OpenAPIV3=false', 'AllAlpha=true', 'ServerSideApply=true']),
    ['KMSv2=true', 'NodeSwap=true'],
  ))
