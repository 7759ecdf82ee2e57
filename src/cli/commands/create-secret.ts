// Creates a secret: generic, from values and files, or tls, from a certificate and its key.

import { readFileSync } from 'node:fs'
import { defineCommand } from '../command.js'
import { createFlags, createOne } from '../create-one.js'
import { UsageError } from '../flags.js'
import { keyValueFlags, readKeyValues } from '../key-values.js'

export const command = defineCommand({
  usage: 'create secret (generic | tls) NAME [flags]',
  about: 'create a secret',
  examples: ['create secret generic login --from-literal=password=…', 'create secret tls web --cert=web.crt --key=web.key'],
  flags: {
    ...createFlags,
    ...keyValueFlags,
    type: { kind: 'text', help: 'of a generic secret' },
    cert: { kind: 'text', help: 'of a tls secret: the file with the certificate' },
    key: { kind: 'text', help: 'of a tls secret: the file with its key' },
  },
  run: async (work) => {
    const [sort, name, ...more] = work.args
    if (name === undefined || more.length > 0 || !['generic', 'tls'].includes(sort ?? ''))
      throw new UsageError('create secret generic NAME, or create secret tls NAME')
    const { flags } = work
    if (sort === 'tls' && (flags.cert === undefined || flags.key === undefined)) throw new UsageError('--cert and --key are needed')
    const values =
      sort === 'tls'
        ? new Map([
            ['tls.crt', readFileSync(flags.cert as string)],
            ['tls.key', readFileSync(flags.key as string)],
          ])
        : readKeyValues(flags)
    const data = Object.fromEntries([...values].map(([key, bytes]) => [key, bytes.toString('base64')]))
    const identity = await work.session.resources.identity()
    const type = sort === 'tls' ? identity.label('tls') : flags.type
    return createOne({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, ...(type === undefined ? {} : { type }), data }, work)
  },
})
