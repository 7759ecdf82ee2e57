// Creates a service account.

import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn } from '../create-one.js'

export const command = defineCommand({
  usage: 'create serviceaccount NAME',
  about: 'create a service account',
  flags: createFlags,
  run: async (work) => {
    const name = nameIn(work.args)
    return createOne({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } }, work)
  },
})
