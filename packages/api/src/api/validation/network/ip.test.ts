// Tests of IP address parsing and of ranges that endpoints may not use.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkReachableIp, ipAddress, isIpv4, parseIp } from './ip.js'

const addresses: readonly { readonly text: string; readonly bytes: readonly number[] }[] = [
  { text: '10.0.0.1', bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1] },
  { text: '010.001.0.08', bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 1, 0, 8] },
  { text: '::', bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
  { text: '2001:DB8:0:0::1', bytes: [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1] },
  { text: '1:2:3:4:5:6:7:8', bytes: [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8] },
  { text: '1::', bytes: [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] },
  { text: '::ffff:10.0.0.1', bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1] },
  { text: '1:2:3:4:5:6:1.2.3.4', bytes: [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 1, 2, 3, 4] },
]

for (const { text, bytes } of addresses) test(`${text} is an IP address`, () => assert.deepEqual(parseIp(text), bytes))

const nonsense = [
  '',
  'web.example',
  '10.0.0.256',
  '10.0.0',
  '10.0.0.0.1',
  '1..2.3',
  ' 1.2.3.4',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4::5:6:7:8',
  '1::2::3',
  ':::',
  '1:',
  ':1',
  '2001:db8::g',
  '2001:db8::1%eth0',
  '::1.2.3.4:5',
  '1.2.3.4::',
  '12345::',
]

for (const text of nonsense) {
  test(`"${text}" is not an IP address`, () =>
    assert.deepEqual(ipAddress(text), ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']))
}

test('an IPv4-mapped IPv6 address is an IPv4 address', () => assert.equal(isIpv4(parseIp('::ffff:1.2.3.4') ?? []), true))

const loopback = 'may not be in the loopback range (127.0.0.0/8, ::1/128)'
const linkLocal = 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'
const multicast = 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'

const unreachable: readonly { readonly text: string; readonly problem: string }[] = [
  { text: 'not-an-ip', problem: 'must be a valid IP address' },
  { text: '0.0.0.0', problem: 'may not be unspecified (0.0.0.0)' },
  { text: '::', problem: 'may not be unspecified (::)' },
  { text: '127.9.9.9', problem: loopback },
  { text: '::1', problem: loopback },
  { text: '::ffff:127.0.0.1', problem: loopback },
  { text: '169.254.1.1', problem: linkLocal },
  { text: 'fe80::1', problem: linkLocal },
  { text: 'febf::1', problem: linkLocal },
  { text: '224.0.0.5', problem: multicast },
  { text: 'ff02::1', problem: multicast },
]

for (const { text, problem } of unreachable) {
  test(`${text} is rejected as an endpoint address`, () => {
    assert.deepEqual(checkReachableIp(text, 'ip'), [
      { reason: 'FieldValueInvalid', field: 'ip', message: `Invalid value: "${text}": ${problem}` },
    ])
  })
}

for (const text of ['10.0.0.1', '255.255.255.255', '239.1.1.1', '224.0.1.1', 'fec0::1', 'ff05::1', '::2', '::ffff:10.0.0.1']) {
  test(`${text} is accepted as an endpoint address`, () => assert.deepEqual(checkReachableIp(text, 'ip'), []))
}
