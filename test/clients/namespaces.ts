// Namespaces as a client may use them: with the service account that every pod in them is given.

import type { ApiClient } from '../kit/api-client.js'
import { newNamespace as makeNamespace, until } from '../kit/fixtures.js'

export async function newNamespace(client: ApiClient): Promise<string> {
  const name = await makeNamespace(client, 'client')
  await until(
    () => client.get(`/api/v1/namespaces/${name}/serviceaccounts/default`),
    ({ status }) => status === 200,
  )
  return name
}
