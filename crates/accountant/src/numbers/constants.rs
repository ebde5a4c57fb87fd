//! The constants of the elementary functions, as bits. A test compares each with intervals of 300 bits.

/// π/2 in parts: the first three have at most 28 bits, so that their products with an integer below 2^25 are exact.
pub(crate) const HALF_PI: [f64; 4] = [
    f64::from_bits(0x3ff9_21fb_5400_0000),
    f64::from_bits(0x3e11_0b46_1000_0000),
    f64::from_bits(0x3c5a_6263_3000_0000),
    f64::from_bits(0x3a94_5c06_e0e6_8948),
];

/// The third and fourth part in one.
pub(crate) const HALF_PI_END: f64 = f64::from_bits(0x3c5a_6263_3145_c06e);

/// ln 2 in parts: the first has 32 bits, so that its product with an integer below 2^21 is exact.
pub(crate) const LN_2: [f64; 2] = [
    f64::from_bits(0x3fe6_2e42_fee0_0000),
    f64::from_bits(0x3dea_39ef_3579_3c76),
];

/// ln 2 as a sum of two.
pub(crate) const LN_2_TWO: [f64; 2] = [
    f64::from_bits(0x3fe6_2e42_fefa_39ef),
    f64::from_bits(0x3c7a_bc9e_3b39_803f),
];

/// `1/n!` as sums of two.
pub(crate) const INVERSE_FACTORIALS: [[f64; 2]; 29] = [
    [
        f64::from_bits(0x3ff0_0000_0000_0000),
        f64::from_bits(0x0000_0000_0000_0000),
    ],
    [
        f64::from_bits(0x3ff0_0000_0000_0000),
        f64::from_bits(0x0000_0000_0000_0000),
    ],
    [
        f64::from_bits(0x3fe0_0000_0000_0000),
        f64::from_bits(0x0000_0000_0000_0000),
    ],
    [
        f64::from_bits(0x3fc5_5555_5555_5555),
        f64::from_bits(0x3c65_5555_5555_5555),
    ],
    [
        f64::from_bits(0x3fa5_5555_5555_5555),
        f64::from_bits(0x3c45_5555_5555_5555),
    ],
    [
        f64::from_bits(0x3f81_1111_1111_1111),
        f64::from_bits(0x3c01_1111_1111_1111),
    ],
    [
        f64::from_bits(0x3f56_c16c_16c1_6c17),
        f64::from_bits(0xbbef_49f4_9f49_f49f),
    ],
    [
        f64::from_bits(0x3f2a_01a0_1a01_a01a),
        f64::from_bits(0x3b6a_01a0_1a01_a01a),
    ],
    [
        f64::from_bits(0x3efa_01a0_1a01_a01a),
        f64::from_bits(0x3b3a_01a0_1a01_a01a),
    ],
    [
        f64::from_bits(0x3ec7_1de3_a556_c734),
        f64::from_bits(0xbb6c_154f_8ddc_6c00),
    ],
    [
        f64::from_bits(0x3e92_7e4f_b778_9f5c),
        f64::from_bits(0x3b3c_bbc0_5b4f_a99a),
    ],
    [
        f64::from_bits(0x3e5a_e645_67f5_44e4),
        f64::from_bits(0xbafc_062e_06d1_f209),
    ],
    [
        f64::from_bits(0x3e21_eed8_eff8_d898),
        f64::from_bits(0xbac2_aec9_59e1_4c06),
    ],
    [
        f64::from_bits(0x3de6_1246_13a8_6d09),
        f64::from_bits(0x3a8f_28e0_cc74_8ebe),
    ],
    [
        f64::from_bits(0x3da9_3974_a8c0_7c9d),
        f64::from_bits(0x3a30_5d6f_8a2e_fd1f),
    ],
    [
        f64::from_bits(0x3d6a_e7f3_e733_b81f),
        f64::from_bits(0x39e1_d865_6b0e_e8cb),
    ],
    [
        f64::from_bits(0x3d2a_e7f3_e733_b81f),
        f64::from_bits(0x39a1_d865_6b0e_e8cb),
    ],
    [
        f64::from_bits(0x3ce9_52c7_7030_ad4a),
        f64::from_bits(0x398a_c981_465d_dc6c),
    ],
    [
        f64::from_bits(0x3ca6_8278_63b9_7d97),
        f64::from_bits(0x394e_ec01_221a_8b0b),
    ],
    [
        f64::from_bits(0x3c62_f49b_4681_4157),
        f64::from_bits(0x38f2_650f_61db_dcb4),
    ],
    [
        f64::from_bits(0x3c1e_542b_a402_0225),
        f64::from_bits(0x387e_a72b_4afe_3c2f),
    ],
    [
        f64::from_bits(0x3bd7_1b8e_f6dc_f572),
        f64::from_bits(0xb87d_043a_e40c_4647),
    ],
    [
        f64::from_bits(0x3b90_ce39_6db7_f853),
        f64::from_bits(0xb83a_ebcd_bd20_331c),
    ],
    [
        f64::from_bits(0x3b47_61b4_1316_381a),
        f64::from_bits(0xb7d3_423c_7d91_404f),
    ],
    [
        f64::from_bits(0x3aff_2cf0_1972_f578),
        f64::from_bits(0xb789_ada5_fcc1_ab14),
    ],
    [
        f64::from_bits(0x3ab3_f3cc_dd16_5fa9),
        f64::from_bits(0xb745_8dda_df34_4487),
    ],
    [
        f64::from_bits(0x3a68_8e85_fc6a_4e5a),
        f64::from_bits(0xb707_1c37_ebd1_6540),
    ],
    [
        f64::from_bits(0x3a1d_1ab1_c2dc_cea3),
        f64::from_bits(0x36a0_54d0_c78a_ea14),
    ],
    [
        f64::from_bits(0x39d0_a18a_2635_085d),
        f64::from_bits(0x366b_9e2e_28e1_aa54),
    ],
];

/// `1/√2π` as a sum of two.
pub(crate) const INVERSE_ROOT_TWO_PI: [f64; 2] = [
    f64::from_bits(0x3fd9_8845_33d4_3651),
    f64::from_bits(0xbc7c_bc0d_30eb_fd15),
];
