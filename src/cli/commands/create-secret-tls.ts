// Creates a secret from a certificate and its key.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn, needed } from '../create-one.js'
import { Failure } from '../failure.js'
import { base64Values } from '../key-values.js'
import { hashFlags, withHash } from '../name-hash.js'

export const command = defineCommand({
  usage: 'create secret tls NAME --cert=FILE --key=FILE',
  about: 'create a secret from a certificate and its key',
  examples: ['create secret tls web --cert=web.crt --key=web.key'],
  flags: {
    ...createFlags,
    ...hashFlags,
    cert: { kind: 'text', help: 'the file with the certificate' },
    key: { kind: 'text', help: 'the file with its key' },
  },
  run: async (work) => {
    const { flags, args, session } = work
    const certificate = readFileSync(needed('cert', flags.cert))
    const key = readFileSync(needed('key', flags.key))
    mustBelong(certificate, key)
    const data = base64Values(
      new Map([
        ['tls.crt', certificate],
        ['tls.key', key],
      ]),
    )
    const type = (await session.resources.identity()).label('tls')
    return createOne(
      withHash({ apiVersion: 'v1', kind: 'Secret', metadata: { name: nameIn(args) }, type, data }, flags['append-hash']),
      work,
    )
  },
})

function mustBelong(certificate: Buffer, key: Buffer): void {
  let isPair: boolean
  try {
    isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  } catch (thrown) {
    throw new Failure(`failed to read the certificate or its key: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
  if (!isPair) throw new Failure('tls: private key does not match public key')
}
