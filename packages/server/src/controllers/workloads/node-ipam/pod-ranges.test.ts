// Free subnets of a cluster range.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Cidr, parseCidr } from '@cluster-apiserver/api/api/validation/network/cidr.js'
import { freeSubnet } from './pod-ranges.js'

for (const [range, maskBits, used, expected] of [
  ['10.244.0.0/16', 24, [], '10.244.0.0/24'],
  ['10.244.0.0/16', 24, ['10.244.0.0/24', '10.244.2.0/24'], '10.244.1.0/24'],
  ['10.244.0.0/16', 24, ['10.244.0.0/23'], '10.244.2.0/24'],
  ['10.244.0.0/16', 24, ['10.244.0.16/28'], '10.244.1.0/24'],
  ['10.244.0.0/16', 24, ['10.0.0.0/8'], undefined],
  ['10.244.0.0/16', 24, ['10.9.0.0/24', 'fd00::/8'], '10.244.0.0/24'],
  ['10.0.0.0/23', 24, ['10.0.0.0/24', '10.0.1.0/24'], undefined],
  ['fd00:1::/48', 64, ['fd00:1::/64'], 'fd00:1:0:1::/64'],
] as const)
  test(`pod range in ${range} besides ${used.join(', ') || 'nothing'}`, () =>
    assert.equal(freeSubnet({ cluster: parseCidr(range) as Cidr, maskBits }, used), expected))
