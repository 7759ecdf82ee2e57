// Tests of string formats: accepted and rejected texts of each.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isOfFormat } from './string-formats.js'

const formats: { readonly [format: string]: { readonly accepted: readonly string[]; readonly rejected: readonly string[] } } = {
  email: {
    accepted: ['a@b', 'a.b@c.d', '"a b"@c', 'Bob <b@c>', '"B. B" <b@c>', 'a@b (home)', '<a@b>', 'é@ü.de'],
    rejected: ['', 'a', 'a@', '@b', 'a..b@c', '.a@c', 'a@b.', 'a@b, c@d', 'a b@c', '""@a', '<a@b', 'a@b (x', 'a@[1.2.3.4]'],
  },
  mac: {
    accepted: ['00:11:22:33:44:55', '00-11-22-33-44-55-66-77', '0011.2233.4455', Array(20).fill('aB').join(':')],
    rejected: ['00:11:22:33:44', '00:11:22:33:44:55:66', '00:11-22:33:44:55', '001122334455', ''],
  },
  creditcard: { accepted: ['4111 1111 1111 1111', '5105-1051-0510-5100'], rejected: ['4111 1111 1111 1112', '000000000000', ''] },
  ssn: { accepted: ['111-11-1111', '111 11 1111'], rejected: ['111111111', '111-111111'] },
  byte: { accepted: ['aGk=', '+/+/'], rejected: ['', 'aGk', 'aG\nk=', '-_-_'] },
  uri: { accepted: ['/a', 'http://a', 'x:y', '*', '/#'], rejected: ['', 'a', '#a', 'http://a b'] },
  'date-time': {
    accepted: ['2021-01-01T00:00:00Z', '2021-01-01t00:00:00z', '2021-01-01T00:00:00.5+99:99'],
    rejected: ['', '2021-01-01', '2021-01-01T00:00:00', '2021-02-30T00:00:00Z', '2021-01-01T24:00:00Z', '2021-01-01T0:00:00Z'],
  },
  ipv4: { accepted: ['1.2.3.4', '::ffff:1.2.3.4'], rejected: ['01.2.3.4', '1.2.3.04', '::1', '1.2.3'] },
  cidr: { accepted: ['10.0.0.0/8'], rejected: ['010.0.0.0/8', '10.0.0.0'] },
  duration: { accepted: ['1h', '-1s', '1.5 days', '1 week ago'], rejected: ['', 'x', '5', '1 moon'] },
}

for (const [format, { accepted, rejected }] of Object.entries(formats)) {
  test(`the format ${format}`, () => {
    for (const text of accepted) assert.equal(isOfFormat(format, text), true, text)
    for (const text of rejected) assert.equal(isOfFormat(format, text), false, text)
  })
}
