// Creates a secret from values and files.

import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn } from '../create-one.js'
import { base64Values, keyValueFlags, readKeyValues } from '../key-values.js'
import { hashFlags, withHash } from '../name-hash.js'

export const command = defineCommand({
  usage: 'create secret generic NAME [--from-literal=KEY=VALUE] [--from-file=[KEY=]PATH] [--type=TYPE]',
  about: 'create a secret from values and files',
  examples: ['create secret generic login --from-literal=password=…'],
  flags: { ...createFlags, ...keyValueFlags, ...hashFlags, type: { kind: 'text', help: 'of the secret' } },
  run: async (work) => {
    const { flags, args } = work
    const data = base64Values(readKeyValues(flags))
    const type = flags.type === undefined ? {} : { type: flags.type }
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: nameIn(args) }, ...type, data }
    return createOne(withHash(object, flags['append-hash']), work)
  },
})
