// A token as a header says it.

import { CredentialError } from '../errors.js'

/** `where` is for messages. Throws where it cannot be said. */
export function bearer(token: string, where: string): string {
  if (token === '') throw new CredentialError(`${where}: the token is empty`)
  if (beyondHeaders.test(token)) throw new CredentialError(`${where}: the token has a line break or another sign that no header can have`)
  return `Bearer ${token}`
}

const beyondHeaders = /[^\t\x20-\x7e\x80-\xff]/
