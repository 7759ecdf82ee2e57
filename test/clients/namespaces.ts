// Creates namespaces and waits for their default ServiceAccount.

import type { ApiClient } from '../kit/api-client.js'
import { newNamespace as makeNamespace, untilStatus } from '../kit/fixtures.js'

export async function newNamespace(client: ApiClient): Promise<string> {
  const name = await makeNamespace(client, 'client')
  await untilStatus(() => client.get(`/api/v1/namespaces/${name}/serviceaccounts/default`), 200)
  return name
}
