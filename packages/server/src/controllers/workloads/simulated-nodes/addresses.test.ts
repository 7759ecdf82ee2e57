// Addresses of simulated nodes and pods: unique, in turn, from the pod CIDR of the node.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeAddress, PodAddresses } from './addresses.js'

test('node addresses follow the number in the name, and are unique', () => {
  const used = new Set<string>()
  const take = (name: string): string => {
    const address = nodeAddress(name, (found) => used.has(found))
    used.add(address)
    return address
  }
  assert.deepEqual(['node-1', 'node-2', 'other-1', 'node-300', 'gateway'].map(take), [
    '172.18.0.3',
    '172.18.0.4',
    '172.18.0.5',
    '172.18.1.52',
    '172.18.0.6',
  ])
})

test('pod addresses: in turn, from the pod CIDR or a block by node, and beyond a full block', () => {
  const addresses = new PodAddresses(new Map([['10.244.3.3', 'before']]))
  const take = (cidr?: string) => addresses.allocate('172.18.0.3', cidr, 'p')
  assert.deepEqual([take(), take()], ['10.244.3.2', '10.244.3.4'])
  addresses.release('10.244.3.2', 'other')
  addresses.release('10.244.3.2', 'p')
  assert.equal(take(), '10.244.3.5')
  const all = new Set(Array.from({ length: 300 }, () => take()))
  assert.equal(all.size, 300)
  assert.ok(all.has('10.244.3.2') && all.has('10.244.4.1') && !all.has('10.244.3.255') && !all.has('10.244.4.0'))
  assert.equal(new PodAddresses(new Map()).allocate('172.18.0.3', '10.9.8.0/24', 'p'), '10.9.8.2')
})
