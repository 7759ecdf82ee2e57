// Takes one value out of the client configuration.

import { defineCommand } from '../command.js'
import { changeDocument } from '../config-file.js'
import { filesWithProperty, propertyOf, withoutProperty } from '../config-property.js'
import { UsageError } from '../flags.js'

export const command = defineCommand({
  usage: 'config unset PROPERTY',
  about: 'take one value out of the configuration',
  examples: ['config unset contexts.shop.namespace', 'config unset users.old', 'config unset current-context'],
  flags: {},
  run: async ({ args, flags, io }) => {
    const [name, ...more] = args
    if (name === undefined || more.length > 0) throw new UsageError('name a property')
    const property = propertyOf(name)
    for (const file of filesWithProperty(flags.kubeconfig, property))
      await changeDocument(file, (document) => withoutProperty(document, property))
    io.out(`Property "${name}" unset.\n`)
    return 0
  },
})
