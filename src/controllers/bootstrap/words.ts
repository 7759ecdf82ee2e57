// How the tables of this folder spell names in both vocabularies: `%-scheduler` begins with the brand's short form, `{events}` is a group
// with its suffix, `./kubelet-serving` a name in the system's domain.

import { type Identity, identityOf } from '../../api/identity.js'

/** Some names keep the original word under either identity, because it stands in their middle: `!-scheduler`. */
const original = identityOf('kubernetes')

export const spell = (identity: Identity, text: string): string =>
  text
    .replace(/^\.\//, identity.label(''))
    .replace(/\{([a-z.]+)\}/g, (_, stem: string) => identity.group({ stem }))
    .replace('%-', identity.prefixed(''))
    .replace('!-', original.prefixed(''))

/** The words of a text, each spelt. */
export const spellAll = (identity: Identity, text: string): readonly string[] =>
  text.split(' ').map((word) => (word === 'core' ? '' : spell(identity, word)))
