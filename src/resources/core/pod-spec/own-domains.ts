// The domains that belong to the system itself, under which nobody else may name things.

import type { Identity } from '../../../api/identity.js'

/** The domain of labels and annotations. */
export const labelDomain = (identity: Identity): string => identity.label('').slice(0, -1)

/** The domain of API groups. */
export const groupDomain = (identity: Identity): string => identity.group({ stem: '' }).slice(1)
