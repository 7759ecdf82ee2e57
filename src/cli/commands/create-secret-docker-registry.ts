// Creates a secret with which images are fetched from a registry.

import { defineCommand } from '../command.js'
import { createFlags, createOne, nameIn } from '../create-one.js'
import { UsageError } from '../flags.js'
import { base64Values, keyValueFlags, readKeyValues } from '../key-values.js'
import { hashFlags, withHash } from '../name-hash.js'

export const command = defineCommand({
  usage:
    'create secret docker-registry NAME (--docker-username=… --docker-password=… | --from-file=.dockerconfigjson=PATH) [--docker-server=…]',
  about: 'create a secret with which images are fetched',
  examples: ['create secret docker-registry images --docker-server=registry.example.com --docker-username=… --docker-password=…'],
  flags: {
    ...createFlags,
    ...hashFlags,
    'docker-server': { kind: 'text', initial: 'https://index.docker.io/v1/', help: 'the registry' },
    'docker-username': { kind: 'text', help: 'who fetches' },
    'docker-password': { kind: 'text', help: 'and the password' },
    'docker-email': { kind: 'text', help: 'and the address for mail' },
    'from-file': keyValueFlags['from-file'],
  },
  run: async (work) => {
    const { flags, args, session } = work
    const {
      'docker-server': server = '',
      'docker-username': username = '',
      'docker-password': password = '',
      'docker-email': email,
    } = flags
    const files = flags['from-file']
    if (files.length === 0 && (username === '' || password === '' || server === ''))
      throw new UsageError('either --from-file or the combination of --docker-username, --docker-password and --docker-server is required')
    const auth = Buffer.from(`${username}:${password}`).toString('base64')
    const entry = { username, password, ...(email === undefined ? {} : { email }), auth }
    const values =
      files.length > 0
        ? readKeyValues({ 'from-literal': [], 'from-env-file': [], 'from-file': files })
        : new Map([['.dockerconfigjson', Buffer.from(JSON.stringify({ auths: { [server]: entry } }))]])
    const type = (await session.resources.identity()).label('dockerconfigjson')
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: nameIn(args) }, type, data: base64Values(values) }
    return createOne(withHash(object, flags['append-hash']), work)
  },
})
