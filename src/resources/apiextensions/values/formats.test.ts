// Formats of texts: for each, what it takes and what it does not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOfFormat } from './formats.js'

const formats: { readonly [format: string]: { readonly good: readonly string[]; readonly bad: readonly string[] } } = {
  email: {
    good: ['a@b', 'a.b@c.d', '"a b"@c', 'Bob <b@c>', '"B. B" <b@c>', 'a@b (home)', '<a@b>', 'é@ü.de'],
    bad: ['', 'a', 'a@', '@b', 'a..b@c', '.a@c', 'a@b.', 'a@b, c@d', 'a b@c', '""@a', '<a@b', 'a@b (x', 'a@[1.2.3.4]'],
  },
  mac: {
    good: ['00:11:22:33:44:55', '00-11-22-33-44-55-66-77', '0011.2233.4455', Array(20).fill('aB').join(':')],
    bad: ['00:11:22:33:44', '00:11:22:33:44:55:66', '00:11-22:33:44:55', '001122334455', ''],
  },
  creditcard: { good: ['4111 1111 1111 1111', '5105-1051-0510-5100'], bad: ['4111 1111 1111 1112', '000000000000', ''] },
  ssn: { good: ['111-11-1111', '111 11 1111'], bad: ['111111111', '111-111111'] },
  byte: { good: ['aGk=', '+/+/'], bad: ['', 'aGk', 'aG\nk=', '-_-_'] },
  uri: { good: ['/a', 'http://a', 'x:y', '*', '/#'], bad: ['', 'a', '#a', 'http://a b'] },
  'date-time': {
    good: ['2021-01-01T00:00:00Z', '2021-01-01t00:00:00z', '2021-01-01T00:00:00.5+99:99'],
    bad: ['', '2021-01-01', '2021-01-01T00:00:00', '2021-02-30T00:00:00Z', '2021-01-01T24:00:00Z', '2021-01-01T0:00:00Z'],
  },
  ipv4: { good: ['1.2.3.4', '::ffff:1.2.3.4'], bad: ['01.2.3.4', '1.2.3.04', '::1', '1.2.3'] },
  cidr: { good: ['10.0.0.0/8'], bad: ['010.0.0.0/8', '10.0.0.0'] },
  duration: { good: ['1h', '-1s', '1.5 days', '1 week ago'], bad: ['', 'x', '5', '1 moon'] },
}

for (const [format, { good, bad }] of Object.entries(formats)) {
  test(`the format ${format}`, () => {
    for (const text of good) assert.equal(isOfFormat(format, text), true, text)
    for (const text of bad) assert.equal(isOfFormat(format, text), false, text)
  })
}
