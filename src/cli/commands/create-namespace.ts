// Creates a namespace.

import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn } from '../create-one.js'

export const command = defineCommand({
  usage: 'create namespace NAME',
  about: 'create a namespace',
  flags: createFlags,
  run: async (work) => {
    const name = nameIn(work.args)
    return createOne({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, work)
  },
})
