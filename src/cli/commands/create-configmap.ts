// Creates a config map from values and files.

import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn } from '../create-one.js'
import { isText, keyValueFlags, readKeyValues } from '../key-values.js'
import { hashFlags, withHash } from '../name-hash.js'

export const command = defineCommand({
  usage: 'create configmap NAME [--from-literal=KEY=VALUE] [--from-file=[KEY=]PATH]',
  about: 'create a config map',
  examples: ['create configmap prices --from-literal=apple=3', 'create configmap pages --from-file=html/'],
  flags: { ...createFlags, ...keyValueFlags, ...hashFlags },
  run: async (work) => {
    const name = nameIn(work.args)
    const values = [...readKeyValues(work.flags)]
    const data = values.filter(([, bytes]) => isText(bytes)).map(([key, bytes]) => [key, bytes.toString('utf8')])
    const binary = values.filter(([, bytes]) => !isText(bytes)).map(([key, bytes]) => [key, bytes.toString('base64')])
    const object = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      ...(data.length === 0 ? {} : { data: Object.fromEntries(data) as object }),
      ...(binary.length === 0 ? {} : { binaryData: Object.fromEntries(binary) as object }),
    }
    return createOne(withHash(object, work.flags['append-hash']), work)
  },
})
