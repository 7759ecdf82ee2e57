// Sets one value of the client configuration.

import { defineCommand } from '../command.js'
import { changeDocument } from '../config-file.js'
import { fileOfProperty, propertyOf, withProperty } from '../config-property.js'
import { UsageError } from '../flags.js'

export const command = defineCommand({
  usage: 'config set PROPERTY VALUE [--set-raw-bytes]',
  about: 'set one value of the configuration',
  examples: ['config set clusters.shop.server https://shop.example.com', 'config set contexts.shop.namespace prices'],
  flags: { 'set-raw-bytes': { kind: 'switch', help: 'of certificates and keys: the value is not in base64' } },
  run: async ({ args, flags, io }) => {
    const [name, value, ...more] = args
    if (name === undefined || value === undefined || more.length > 0) throw new UsageError('name a property, and its value')
    const property = propertyOf(name)
    await changeDocument(fileOfProperty(flags.kubeconfig, property), (document) =>
      withProperty(document, property, value, flags['set-raw-bytes']),
    )
    io.out(`Property "${name}" set.\n`)
    return 0
  },
})
